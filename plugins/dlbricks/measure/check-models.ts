import {
  type CollectionDefinition,
  factorOfSums,
  type MeasuringContext,
  optimizedRun,
  PlatformError,
  protocolKey,
  protocolOfComposite,
  type System,
  trimmedMean,
  unlessUnavailable,
  z,
  isOutermost,
} from '../../../src/plugin-api.js';
import { kernelIndex } from '../bricks/checkable-graph.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import type { CheckedRun, KernelsOfRun } from '../estimate/compare-kernels.js';
import type { MeasureSettings } from './tasks.js';

const kernelsSchema = z.strictObject({
  /** The fingerprint. */
  system: z.string(),
  graph: z.string(),
  protocol: z.string(),
  wholeMs: z.number(),
  kernels: z.array(z.strictObject({ ms: z.number(), innerRuns: z.number() }).nullable()),
  costMs: z.number(),
  checkedAt: z.iso.datetime(),
});

const CHECKS: CollectionDefinition<z.infer<typeof kernelsSchema>> = {
  name: 'dlbricks_checks',
  schema: kernelsSchema,
  key: ['system', 'graph', 'protocol'],
  indexes: [],
};

type Trace = Awaited<ReturnType<MeasuringContext['agent']['trace']>>;

/** Times of the kernels in a trace, by their index. The events of a kernel's subgraphs are within its own time. */
function sumKernelTimes({ kernels }: Trace, count: number): KernelsOfRun['kernels'] {
  const found = new Array<{ ms: number; innerRuns: number } | null>(count).fill(null);
  const outerAt = new Map<string, { readonly kernel: { innerRuns: number }; readonly runs: number }>();
  const outermost = kernels.filter(isOutermost);
  const factor = factorOfSums(outermost.map(({ runMs }) => runMs));
  for (const { sequenceIndex, name, runMs } of kernels) {
    const [at = '', inner] = sequenceIndex.split('-');
    if (inner === undefined) {
      const index = kernelIndex(name);
      if (index === undefined || index >= count) continue;
      const kernel = (found[index] ??= { ms: 0, innerRuns: 0 });
      kernel.ms += factor * trimmedMean(runMs);
      outerAt.set(at, { kernel, runs: runMs.length });
    } else {
      const outer = outerAt.get(at);
      if (outer !== undefined) outer.kernel.innerRuns += runMs.length / outer.runs;
    }
  }
  return found;
}

/**
 * With the runtime's profile, unless the store has such a run. A graph that cannot be run gets the reason.
 *
 * @returns runs in the order of the models, undefined for a model that the runtime refuses
 * @throws PlatformError as the store, and where the agent itself fails
 */
export async function checkModels(
  models: readonly PreparedModel[],
  system: System,
  { runOptions, protocol, limits }: MeasureSettings,
  { agent, store, signal, onEvent }: MeasuringContext,
  again: boolean,
) {
  const startMs = performance.now();
  const stored = store.collection(CHECKS);
  const ofWhole = protocolOfComposite(protocol);
  const checkModel = async ({ recipe: { name }, toCheck, refusal }: PreparedModel): Promise<CheckedRun | undefined> => {
    if (refusal !== undefined) return undefined;
    if (toCheck === undefined || typeof toCheck === 'string') {
      return { kind: 'failed', reason: toCheck ?? 'the runtime keeps no profile of its kernels' };
    }
    const { benchmark, names } = await toCheck();
    const key = { system: system.fingerprint, graph: benchmark.signature, protocol: protocolKey(protocol) };
    const known = again ? undefined : await unlessUnavailable(stored.get(key));
    if (known !== undefined) return { kind: 'run', ...known, names };
    if (signal.aborted) return { kind: 'failed', reason: 'interrupted before it was checked' };
    onEvent({ kind: 'measuring', label: `checking ${name}`, done: 0, total: 0 });
    const startedMs = performance.now();
    const request = { benchmark, runOptions: optimizedRun(runOptions), protocol: ofWhole, limits };
    const trace = await agent.trace(request, 'APPLICATION_TRACE', { signal });
    const run = {
      wholeMs: trimmedMean(trace.untracedMs),
      kernels: [...sumKernelTimes(trace, names.length)],
      costMs: performance.now() - startedMs,
    };
    await stored.put({ ...key, ...run, checkedAt: new Date().toISOString() });
    return { kind: 'run', ...run, names };
  };
  const runs: (CheckedRun | undefined)[] = [];
  for (const model of models) {
    runs.push(
      await checkModel(model).catch((error: unknown): CheckedRun => {
        const isResult = error instanceof PlatformError && RESULTS.has(error.code);
        if (isResult) return { kind: 'failed', reason: error.message };
        throw error;
      }),
    );
  }
  return { runs, wallMs: performance.now() - startMs };
}

/** Errors that are about the graph, or that end the check alone. */
const RESULTS: ReadonlySet<string> = new Set(['unsupported', 'model', 'timeout', 'cancelled']);
