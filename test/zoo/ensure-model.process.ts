/**
 * A process that a test starts and kills: `ensure-model.process.js NAME CACHE_DIR [stall]`. Prints the result as one
 * line of JSON. With `stall` it prints `writing` after the first piece and then hangs.
 */
import { writeSync } from 'node:fs';
import { PlatformError } from '../../src/base/errors.js';
import { ensureZooModel } from '../../src/zoo/cache.js';

const [name = '', cacheDir, stall] = process.argv.slice(2);

function hang(): void {
  writeSync(process.stdout.fd, 'writing\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

try {
  const file = await ensureZooModel(name, { cacheDir, onProgress: stall === 'stall' ? hang : undefined });
  console.log(JSON.stringify({ file }));
} catch (thrown) {
  if (!(thrown instanceof PlatformError)) throw thrown;
  console.log(JSON.stringify({ code: thrown.code, message: thrown.message }));
}
