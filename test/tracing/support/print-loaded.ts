// Imported before a command: prints how many modules of OpenTelemetry the command has loaded in the end.
import { createRequire } from 'node:module';

const { cache } = createRequire(import.meta.url);

process.on('exit', () => {
  const loaded = Object.keys(cache).filter((path) => path.includes('@opentelemetry'));
  process.stderr.write(`loaded ${loaded.length}`);
});
