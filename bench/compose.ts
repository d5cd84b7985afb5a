import { compose } from '../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../plugins/dlbricks/estimate/brick-latency.js';
import { decomposeModel, uniqueBricks } from '../plugins/dlbricks/bricks/unique-bricks.js';
import { createFakeAgent } from '../test/support/fake-agent.js';
import { setupKey } from '../src/measurement/measurement.js';
import { openStore } from '../src/store/open-store.js';
import { CLASSICS } from '../src/zoo/zoo.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';
import { zooLayers } from './decompose.js';
import { measureOne, type Setup, setupOf } from '../test/agent/support/measure-one.js';
import { identifySystem } from '../src/measurement/system.js';

export interface ComposeBenchmark {
  readonly models: number;
  readonly bricks: number;
  /** Fetching all measurements from the embedded store and composing every model from them. */
  readonly seconds: number;
  /** The same, plus building and decomposing the graphs. */
  readonly secondsWithGraphs: number;
}

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

const SETUP: Setup = {
  warmupRuns: 3,
  runs: 50,
  minRuns: 10,
  timeBudgetMs: 5000,
  occasion: 1,
  timeLimitMs: 120_000,
  memoryLimitBytes: 2 ** 33,
};

/** Composes every classic zoo model from a store with all of their bricks, 50 samples each. */
export function benchmarkCompose(): Promise<ComposeBenchmark> {
  return withTemporaryFolder(async (folder) => {
    const agent = createFakeAgent({ latencyOf: () => 1 });
    const store = await openStore(folder);
    const { fingerprint } = identifySystem(agent.description, RUN_OPTIONS);
    const decompose = () => CLASSICS.map(({ name }) => decomposeModel(name, zooLayers(name), 1));
    const bricks = uniqueBricks(decompose());
    await Promise.all(
      bricks.map(async (brick) => store.putMeasurement(await measureOne(agent, brick, RUN_OPTIONS, SETUP))),
    );

    const { protocol, occasion } = setupOf(SETUP);
    const start = performance.now();
    const models = decompose();
    const withGraphs = performance.now();
    const signatures = uniqueBricks(models).map(({ signature }) => signature);
    const measurements = await store.findMeasurements(signatures, fingerprint, setupKey({ protocol, occasion }));
    const observations = groupObservations(measurements.values());
    const estimates = models.map(({ recipe }) => compose({ recipe, context: undefined }, observations));
    const end = performance.now();
    await store.close();
    if (estimates.some(({ coverage }) => coverage !== 1)) throw new Error('the store lacks bricks');
    return {
      models: models.length,
      bricks: bricks.length,
      seconds: (end - withGraphs) / 1000,
      secondsWithGraphs: (end - start) / 1000,
    };
  });
}
