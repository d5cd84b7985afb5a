import { runEstimation } from '../../../../plugins/dlbricks/estimation.js';
import { settingsSchema } from '../../../../plugins/dlbricks/settings.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import type { Protocol } from '../../../../src/measurement/protocol.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import type { ResultStore } from '../../../../src/store/result-store.js';
import { LIMITS } from '../../../store/sample-measurement.js';

interface Once {
  readonly agent: BenchmarkAgent;
  readonly protocol: Protocol;
  /** A new store by default. */
  readonly store?: ResultStore | undefined;
}

/** An estimation with one thread and one sample, which measures no brick a second time. */
export async function estimateOnce(
  models: readonly LoadedModel[],
  given: object,
  { agent, protocol, store }: Once,
): ReturnType<typeof runEstimation> {
  const settings = settingsSchema.parse({ repeat_limit: 0, ...given });
  const common = { threads: 1, batch: 1, protocol, limits: LIMITS, startMs: performance.now() };
  const { signal } = new AbortController();
  const context = { agent, store: store ?? (await openMemoryStore()), signal, onEvent: () => {} };
  return runEstimation({ models, settings, ...common }, context);
}
