/** A part of the program, and the tests that have to notice defects in it. Paths are relative to the project. */
export interface Target {
  /** A folder, with the folders in it. */
  readonly code: string;
  /** Folders and files in it that are left out. */
  readonly exceptCode?: readonly string[];
  /** Folders, with the folders in them, and files. */
  readonly tests: readonly string[];
  /** Folders and files in it that are left out, because they take too long to run for each mutant. */
  readonly exceptTests?: readonly string[];
}

const PLUGIN_PARTS = ['cut', 'bricks', 'measure', 'estimate'];

/** The code that determines results, and the code that input from outside can reach. */
export const TARGETS: readonly Target[] = [
  ...PLUGIN_PARTS.map((part) => ({ code: `plugins/dlbricks/${part}`, tests: [`test/plugins/dlbricks/${part}`] })),
  { code: 'src/measurement', tests: ['test/measurement'] },
  { code: 'src/measuring', tests: ['test/measuring'] },
  { code: 'src/composite', tests: ['test/composite', 'test/agent/jobs/measure-bricks.test.ts'] },
  {
    code: 'src/onnx',
    tests: ['test/onnx', 'test/plugins/dlbricks/bricks/value-classes.test.ts', 'test/registry/annotated-model.test.ts'],
  },
  {
    code: 'src/foreign-traces',
    tests: ['test/foreign-traces', 'test/plugins/dlbricks/traces'],
    exceptTests: ['test/plugins/dlbricks/traces/commands.test.ts', 'test/plugins/dlbricks/traces/icpe2020.test.ts'],
  },
  {
    code: 'src/agent/jobs',
    // Predictions come first: after a trace of a model, an agent gives traces ids of its own.
    tests: ['test/agent/predict', 'test/agent/jobs', 'test/agent/services/load-service.test.ts'],
  },
  { code: 'src/agent/wire', tests: ['test/agent/wire'] },
  {
    code: 'src/server',
    tests: ['test/server'],
    exceptTests: ['bombs', 'event-loop', 'http-connections', 'readers', 'serve-process', 'servers-process'].map(
      (name) => `test/server/${name}.test.ts`,
    ),
  },
  {
    code: 'src/rpc',
    tests: ['test/rpc'],
    exceptTests: ['test/rpc/hostile-clients.test.ts'],
  },
  {
    // Reading, limits and checks; not the conversion of a manifest's content.
    code: 'src/manifest',
    exceptCode: [
      'src/manifest/graph-bindings.ts',
      'src/manifest/older-model.ts',
      'src/manifest/older-steps.ts',
      'src/manifest/resolve-evaluation.ts',
      'src/manifest/resolve-model.ts',
      'src/manifest/steps.ts',
    ],
    tests: ['test/manifest', 'test/schemas/published.test.ts'],
  },
  {
    // The contract of all stores, tested with the store that needs no disk and no server.
    code: 'src/store',
    exceptCode: ['src/store/embedded', 'src/store/mongodb', 'src/store/spool', 'src/store/open-store.ts'],
    tests: ['test/store', 'test/schemas/published.test.ts'],
    exceptTests: ['test/store/embedded', 'test/store/mongodb', 'test/store/open-store.test.ts'],
  },
];
