import { runEstimation } from '../plugins/dlbricks/estimation.js';
import type { EstimateResult } from '../plugins/dlbricks/report/evaluation-result.js';
import { settingsSchema } from '../plugins/dlbricks/settings.js';
import { connectAgent } from '../src/agent/client/agent-client.js';
import { startAgent } from '../src/agent/services/server.js';
import { machineFolder } from '../src/cli/machine-folder.js';
import { DEFAULT_LIMITS, DEFAULT_PROTOCOL } from '../src/manifest/evaluation.js';
import type { LoadedModel } from '../src/registry/load-model.js';
import { loadModel } from '../src/registry/load-model.js';
import { openStore } from '../src/store/open-store.js';

/** The cost of estimating one more model after others of its family. */
export interface FamilyBenchmark {
  readonly known: readonly string[];
  readonly model: string;
  /** Bricks of the model that none of the known models has. */
  readonly newBricks: number;
  readonly bricks: number;
  /** Reading and optimizing the model, and measuring its new bricks. */
  readonly brickSeconds: number;
  /** Measuring the whole model once. */
  readonly wholeSeconds: number;
}

const FAMILIES: readonly (readonly [model: string, ...known: string[]])[] = [
  ['resnet34', 'resnet18', 'resnet50'],
  ['resnet101', 'resnet50'],
  ['densenet169', 'densenet121'],
  ['distilgpt2', 'gpt2'],
];

const BATCH = 1;

function bricksOf({ models }: EstimateResult): ReadonlySet<string> {
  return new Set(models.flatMap(({ estimate: { parts } }) => parts.map(({ benchmark }) => benchmark)));
}

/** Estimates the known models, then the new one, without a cache of optimized graphs; one thread. */
async function measureFamily([model, ...known]: readonly [string, ...string[]]): Promise<FamilyBenchmark> {
  const { signal } = new AbortController();
  const agent = await startAgent({ machineFolder: machineFolder() });
  const client = await connectAgent(agent.address);
  const store = await openStore('memory:');
  const estimate = async (names: readonly string[], measureEndToEnd: boolean) => {
    const startMs = performance.now();
    const models: LoadedModel[] = [];
    for (const name of names) models.push(await loadModel(`zoo:${name}`, { batch: BATCH, signal }));
    const settings = settingsSchema.parse({ measure_end_to_end: measureEndToEnd, repeat_limit: 0 });
    const all = { models, settings, threads: 1, batch: BATCH, protocol: DEFAULT_PROTOCOL, limits: DEFAULT_LIMITS };
    return runEstimation({ ...all, startMs }, { agent: client, store, signal, onEvent: () => {} });
  };
  try {
    const before = await estimate(known, false);
    const { result } = await estimate([model], true);
    const measured = bricksOf(before.result);
    const bricks = bricksOf(result);
    if (result.costs === undefined) throw new Error(`nothing was measured for ${model}`);
    const { readingMs, preparingMs, bricksFirst, modelsFirst } = result.costs;
    return {
      known,
      model,
      newBricks: [...bricks].filter((brick) => !measured.has(brick)).length,
      bricks: bricks.size,
      brickSeconds: (readingMs + preparingMs + bricksFirst.nowMs) / 1000,
      wholeSeconds: (readingMs + modelsFirst.nowMs) / 1000,
    };
  } finally {
    await client.close();
    await agent.close();
    await store.close();
  }
}

/** The cost of one more model in each family. Each family has a store of its own. */
export async function benchmarkFamilies(): Promise<readonly FamilyBenchmark[]> {
  const families: FamilyBenchmark[] = [];
  for (const family of FAMILIES) families.push(await measureFamily(family));
  return families;
}
