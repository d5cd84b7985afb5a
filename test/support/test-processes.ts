// Node's test runner starts a process for each file. A small test file spends most of its time on loading its imports.
// Therefore the files of some folders share a process, which imports them all.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The compiled tests. */
const TESTS = join(import.meta.dirname, '..');

/** Their sources. The compiler leaves the output of a deleted source where it is. */
const SOURCES = join(TESTS, '../../test');

/** The folder with a file for each process. The file imports the tests of the process. */
const PROCESSES = join(TESTS, '../test-processes');

/**
 * The folders and files of each shared process, the longest first. Their tests leave the process as it was, and measure
 * neither its time nor its memory.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  'further-commands': [
    'advise',
    'agent-models',
    'kept-estimates',
    'missing-weights',
    'no-files',
    'provenance',
    'read-only-store',
    'result-pages',
    'run',
    'too-many-threads',
  ]
    .map((name) => `cli/${name}`)
    .concat('fetch', 'platform-documents'),
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
  agents: [
    'agent/failure',
    'support/fake-agent',
    'agent/client',
    'agent/jobs',
    'agent/services',
    'agent/spread',
    'agent/wire',
    'agent/worker/occasions',
    'generator',
  ],
  commands: ['analyze', 'compose', 'configuration', 'exports', 'failing', 'framework-constraint', 'kernel-cut'].map(
    (name) => `cli/${name}`,
  ),
  predictions: ['agent/predict', 'server/prediction'],
  servers: ['server'],
  plugins: ['plugins'],
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
    'web',
  ],
  'plugin-commands': ['bricks/family', 'bricks/prepare-extended', 'commands', 'counted-work', 'traces/commands'].map(
    (name) => `plugins/dlbricks/${name}`,
  ),
  bricks: ['blocks', 'bricks', 'cut', 'estimate', 'exchange', 'measure', 'report', 'sharing'].map(
    (name) => `plugins/dlbricks/${name}`,
  ),
  onnx: ['onnx', 'foreign-traces', 'zoo'],
  intervals: ['plugins/dlbricks/estimate/prediction-interval'],
  predictors: ['predictor'],
  stores: ['store'],
  tools: [
    'bench',
    'lint',
    'mutants',
    'support/merged-summary',
    'torture/checks',
    'tracing/environment',
    'tracing/exporters',
  ].concat(['evaluation-id', 'progress-line', 'show-outcome', 'shown-systems'].map((name) => `cli/${name}`)),
  others: ['command', 'deploy', 'load', 'reference-log', 'registry', 'support/property'].concat(
    ['access-file', 'noise-warnings', 'start'].map((name) => `cli/${name}`),
    ['machine-failure', 'memory-there', 'worker/job-end', 'worker/task-limiter'].map((name) => `agent/${name}`),
  ),
  rpc: ['rpc', 'work/divide-work', 'work/memory', 'work/queued-agent', 'work/work-item'],
};

/** Files of these folders that have a process of their own. */
const ALONE: ReadonlySet<string> = new Set([
  'agent/jobs/core-probe',
  'agent/wire/hostile-requests',
  'agent/worker/other-load',
  'bench/own-traces',
  'bench/scale-process',
  'composite/plan-composites',
  'mutants/hunt',
  'mutants/main',
  'plugins/dlbricks/commands/matrix',
  'plugins/dlbricks/traces/hostile-files',
  'plugins/dlbricks/traces/icpe2020',
  'plugins/dlbricks/values-of-run',
  'predictor/onnxruntime-web/agent',
  'predictor/onnxruntime-web/memory',
  'predictor/onnxruntime-web/threads',
  'predictor/remove-when-mapped',
  'rpc/accounts',
  'rpc/clock-jumps',
  'rpc/guarded-requests',
  'rpc/hostile-clients',
  'rpc/quiet-library',
  'server/bombs',
  'server/event-loop',
  'server/readers',
  'store/embedded/opening',
  'store/embedded/processes',
  'store/mongodb/commands',
  'zoo/icpe2020/runs-small',
  'zoo/modern/runs-small',
  'zoo/runtime',
]);

/**
 * Files, and shared processes, that wait for a large part of their time. They are spread among the others; none of them
 * measures processor time.
 */
const WAITING: ReadonlySet<string> = new Set([
  'rpc',
  'stores',
  'agent/services/measuring',
  'agent/worker/machine-lock',
  'agent/worker/process-lifetime',
  'cli/agent',
  'cli/deprecations',
  'cli/doctor',
  'cli/documented-plugins',
  'cli/exit-codes',
  'cli/framework',
  'cli/full-disk',
  'cli/interrupt',
  'cli/load',
  'cli/pages',
  'cli/plugins',
  'cli/queue',
  'cli/registration',
  'cli/reproduce',
  'cli/roles',
  'cli/several-agents',
  'cli/shared-store',
  'cli/trace-memory',
  'package/installed',
  'server/serve-process',
  'server/servers-process',
  'store/mongodb/large-document',
  'store/mongodb/opening',
  'store/mongodb/outage',
  'tracing/off',
  'tracing/receiver',
  'tracing/several-agents',
  'tracing/stored',
  'tracing/submitted',
  'tracing/trace-url',
  'web/browser',
  'web/live-pages',
  'web/site',
  'work/amqp/outage',
  'work/amqp/work-queue',
  'work/queue-process',
  'work/queued-platform',
]);

/** Files with a process of their own that take long: they start before the others. */
const LONG: ReadonlySet<string> = new Set([
  'server/event-loop',
  'work/queue-process',
  'work/amqp/outage',
  'store/mongodb/outage',
  'server/servers-process',
  'server/serve-process',
  'package/installed',
  'web/browser',
  'cli/several-agents',
  'cli/roles',
  'cli/reproduce',
  'cli/load',
  'zoo/runtime',
  'zoo/modern/runs-small',
  'zoo/icpe2020/runs-small',
  'predictor/onnxruntime-web/agent',
  'cli/terminal',
  'plugins/dlbricks/values-of-run',
  'plugins/dlbricks/traces/hostile-files',
]);

/** Files that compare measured times. Each runs alone, after all others. */
const MEASURING: ReadonlySet<string> = new Set([
  'cli/load-prediction',
  'plugins/dlbricks/hard-to-measure',
  'plugins/xsp/kernels-at-peaks',
]);

function nameOf(file: string): string {
  return file.replace(/\.test\.js$/, '');
}

/** The shared process of a file, by the most specific entry; undefined if the file has a process of its own. */
function processOf(file: string): string | undefined {
  const name = nameOf(file);
  if ([ALONE, WAITING, MEASURING].some((alone) => alone.has(name))) return undefined;
  const holding = Object.entries(TOGETHER).flatMap(([process, places]) => {
    return places
      .filter((place) => name === place || name.startsWith(`${place}/`))
      .map((place) => ({ process, place }));
  });
  return holding.sort((a, b) => b.place.length - a.place.length)[0]?.process;
}

/**
 * The shared processes of `make quick`: those that need no network, no database, no browser and no timed runs of large
 * models.
 */
const QUICK: ReadonlySet<string> = new Set(['bricks', 'intervals', 'onnx', 'platform', 'plugins', 'servers', 'tools']);

/** The files to run, each of which gets a process. */
export interface TestFiles {
  /** Those that run beside each other, in the order in which they start. */
  readonly together: readonly string[];
  /** Those that compare measured times: nothing else may run beside them. */
  readonly measuring: readonly string[];
}

/** Both lists in their orders, the items of each evenly spread. */
function spread<T>(some: readonly T[], others: readonly T[]): readonly T[] {
  const placed = [some, others].flatMap((list) => list.map((item, at) => ({ item, place: (at + 0.5) / list.length })));
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

/** Writes the file of a process with the tests in `files`. @returns its path */
function processFile(name: string, files: readonly string[]): string {
  const path = join(PROCESSES, `${name.replaceAll('/', '-')}.test.js`);
  const imports = ['support/own-machine-lock.js', ...files].map((file) => `import '../test/${file}';\n`);
  writeFileSync(path, imports.join(''));
  return path;
}

/**
 * Writes the files of all processes, or of the quick ones.
 *
 * @returns their paths
 */
export function testFiles({ quick = false } = {}): TestFiles {
  const entries = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });
  const hasSource = (file: string): boolean => existsSync(join(SOURCES, file.replace(/\.js$/, '.ts')));
  const files = entries.filter((file) => file.endsWith('.test.js') && hasSource(file)).sort();
  rmSync(PROCESSES, { recursive: true, force: true });
  mkdirSync(PROCESSES);
  const isLong = (file: string): boolean => LONG.has(nameOf(file));
  const alone = files.filter((file) => processOf(file) === undefined);
  const processes = [
    // Long ones come first, so that no core waits long for another one at the end.
    ...Object.keys(TOGETHER).map((name) => ({ name, files: files.filter((file) => processOf(file) === name) })),
    ...[...alone.filter(isLong), ...alone.filter((file) => !isLong(file))].map((file) => {
      return { name: nameOf(file), files: [file] };
    }),
  ];
  const pathsOf = (isChosen: (name: string) => boolean): readonly string[] => {
    const chosen = processes.filter(({ name }) => isChosen(name) && (!quick || QUICK.has(name)));
    return chosen.map(({ name, files: of }) => processFile(name, of));
  };
  return {
    together: spread(
      pathsOf((name) => !WAITING.has(name) && !MEASURING.has(name)),
      pathsOf((name) => WAITING.has(name)),
    ),
    measuring: pathsOf((name) => MEASURING.has(name)),
  };
}
