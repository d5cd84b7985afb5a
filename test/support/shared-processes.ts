// Prints the files that `npm test` gives to Node's test runner, which starts a process for each. Most of the time of a small
// test file is the loading of what it imports. So the files of some folders share a process, which imports them all.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The compiled tests. */
const TESTS = join(import.meta.dirname, '..');

/** Gets a file for each shared process. */
const SHARED = join(TESTS, '../shared-tests');

/**
 * The folders and files of each shared process, the longest first. Their tests leave the process as it was, and measure
 * neither its time nor its memory.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  commands: ['analyze', 'compose', 'configuration', 'exports', 'failing', 'framework-constraint', 'kernel-cut'].map(
    (name) => `cli/${name}`,
  ),
  'more-commands': [
    'latency',
    'learned-models',
    'open-models',
    'predict',
    'registry',
    'store',
    'suite',
    'sweep',
    'usage',
  ]
    .map((name) => `cli/${name}`)
    .concat('cli/completion', 'cli/help', 'cli/wrong-peer', 'schemas'),
  predictions: ['agent/predict'],
  agents: ['agent/client', 'agent/jobs', 'agent/services', 'agent/spread', 'agent/wire'],
  servers: ['server'],
  platform: [
    'base',
    'composite',
    'directory',
    'evaluation',
    'http',
    'manifest',
    'measurement',
    'measuring',
    'processing',
  ],
  onnx: ['onnx', 'foreign-traces', 'zoo'],
  bricks: ['blocks', 'bricks', 'cut', 'estimate', 'exchange', 'measure', 'plots', 'report', 'sharing'].map(
    (name) => `plugins/dlbricks/${name}`,
  ),
  plugins: ['plugins'],
  stores: ['store'],
  tools: ['bench', 'lint', 'mutants'],
  rpc: ['rpc'],
};

/** Files of these folders that have a process of their own. */
const ALONE: ReadonlySet<string> = new Set([
  'agent/jobs/core-probe',
  'agent/services/measuring',
  'agent/wire/hostile-requests',
  'bench/own-traces',
  'composite/plan-composites',
  'mutants/hunt',
  'plugins/dlbricks/traces/hostile-files',
  'plugins/dlbricks/traces/icpe2020',
  'rpc/accounts',
  'rpc/clock-jumps',
  'rpc/guarded-requests',
  'rpc/hostile-clients',
  'rpc/quiet-library',
  'server/bombs',
  'server/event-loop',
  'server/readers',
  'server/serve-process',
  'server/servers-process',
  'store/embedded/opening',
  'store/embedded/processes',
  'store/mongodb/commands',
  'store/mongodb/large-document',
  'store/mongodb/opening',
  'store/mongodb/outage',
  'zoo/icpe2020/runs-small',
  'zoo/modern/runs-small',
  'zoo/runtime',
]);

/** The most specific entry wins. */
function processOf(file: string): string | undefined {
  const name = file.replace(/\.test\.js$/, '');
  if (ALONE.has(name)) return undefined;
  const holding = Object.entries(TOGETHER).flatMap(([process, places]) => {
    return places
      .filter((place) => name === place || name.startsWith(`${place}/`))
      .map((place) => ({ process, place }));
  });
  return holding.sort((a, b) => b.place.length - a.place.length)[0]?.process;
}

const entries = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });
const files = entries.filter((file) => file.endsWith('.test.js')).sort();
rmSync(SHARED, { recursive: true, force: true });
mkdirSync(SHARED);
// Those that share a process come last, short ones at the very end, so that no core waits long for another one.
for (const file of files) if (processOf(file) === undefined) console.log(join(TESTS, file));
for (const name of Object.keys(TOGETHER)) {
  const imports = files.filter((file) => processOf(file) === name).map((file) => `import '../test/${file}';\n`);
  const shared = join(SHARED, `${name}.test.js`);
  writeFileSync(shared, imports.join(''));
  console.log(shared);
}
