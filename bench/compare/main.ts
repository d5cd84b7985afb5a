import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparisonSchema } from '../../plugins/dlbricks/compare/comparison-schema.js';
import { analysisIn } from '../analysis-in.js';
import { countAlarms } from './alarms.js';
import { compareDocument } from './document.js';

// `make bench-compare`: versions of the runtime over models of the zoo. A comparison that OUT has already is not measured
// again, so that an interrupted run continues. With SAME=100, that many comparisons of one model with itself count the
// gate's false alarms, and no document is written; after STOP_AFTER seconds, no further one starts.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const COMMAND = join(ROOT, 'lib', 'src', 'bin', 'main.js');
const DOCUMENT = join(ROOT, 'docs', 'results', 'compare.md');

const { SAME: same, STOP_AFTER: seconds = '3600', FAIL_ABOVE: failAbove = '5%' } = process.env;

const {
  VERSIONS: versions = '1.24.3,1.27.0',
  MODELS: names = 'squeezenet1.1,resnet18,mobilenet_v2',
  ROUNDS: rounds = '20',
  OUT: out = join(ROOT, 'out', 'compare'),
} = process.env;

if (same !== undefined) {
  const [model = ''] = names.split(',');
  const untilMs = performance.now() + Number(seconds) * 1000;
  console.log(await countAlarms({ command: COMMAND, model, rounds, failAbove, out, count: Number(same), untilMs }));
  process.exit(0);
}
const documents = [];
for (const version of versions.split(',')) {
  const file = join(out, `${version}.json`);
  if (!existsSync(file)) {
    await mkdir(out, { recursive: true });
    const models = names.split(',').map((name) => `zoo:${name}`);
    const sides = [`onnxruntime-node@${version}`, 'default', '--whole', '--rounds', rounds, '--export-json', file];
    const { status } = spawnSync(process.execPath, [COMMAND, 'compare', ...sides, '--', ...models], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  documents.push(comparisonSchema.parse(JSON.parse(await readFile(file, 'utf8'))));
}
const created = documents.map(({ provenance }) => provenance?.created_at.slice(0, 10) ?? '').sort();
const installed = documents.flatMap(
  ({ aspects }) => aspects.find(({ aspect }) => aspect === 'framework_version') ?? [],
);
const machine = [
  `${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, one thread, batch 1, ${created.at(-1)}.`,
  `The installed version, "default", is ${installed[0]?.after ?? 'the same'}.`,
].join(' ');
const analysis = await analysisIn(DOCUMENT);
await mkdir(dirname(DOCUMENT), { recursive: true });
await writeFile(DOCUMENT, `${compareDocument(documents, machine)}\n${analysis === '' ? '## Analysis\n' : analysis}`);
console.log(`written: ${DOCUMENT}`);
