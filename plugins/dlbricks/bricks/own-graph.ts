import {
  type Benchmark,
  type BenchmarkAgent,
  groupedBy,
  type Model,
  modelFromBenchmark,
  nestedNodes,
  optimizingRun,
  PlatformError,
  type RunOptions,
} from '../../../src/plugin-api.js';

// A runtime's kernels depend on some constants. This checks that made-up ones give the same kernels as the file's own.

export type KernelCheck =
  | { readonly kind: 'compared'; readonly differences: ReturnType<typeof kernelDifferences> }
  | { readonly kind: 'failed'; readonly reason: string };

function kernelsByOperator({ graph }: Model) {
  return groupedBy(nestedNodes(graph.nodes), ({ domain, opType }) => (domain === '' ? opType : `${domain}.${opType}`));
}

/** Operators with their domain where they have one, as in "com.microsoft.QLinearAdd". */
export function kernelDifferences(file: Model, filled: Model) {
  const own = kernelsByOperator(file);
  const made = kernelsByOperator(filled);
  return [...new Set([...own.keys(), ...made.keys()])]
    .map((operator) => ({
      operator,
      ofFile: own.get(operator)?.length ?? 0,
      madeUp: made.get(operator)?.length ?? 0,
    }))
    .filter(({ ofFile, madeUp }) => ofFile !== madeUp);
}

/** @throws PlatformError where the agent itself fails; a graph that cannot be optimized is a result */
export async function checkKernels(
  own: Benchmark,
  filled: Model,
  runOptions: RunOptions,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<{ readonly check: KernelCheck; readonly costMs: number }> {
  try {
    const { benchmark, costMs } = await agent.optimize(own, optimizingRun(runOptions), signal);
    const file = modelFromBenchmark(benchmark, 'optimized graph');
    return { check: { kind: 'compared', differences: kernelDifferences(file, filled) }, costMs };
  } catch (error) {
    if (!(error instanceof PlatformError) || !['unsupported', 'model', 'storage'].includes(error.code)) throw error;
    return { check: { kind: 'failed', reason: error.message }, costMs: 0 };
  }
}

/** undefined where the kernels are the same or were not checked. */
export function kernelWarning(name: string, check: KernelCheck | undefined): string | undefined {
  if (check === undefined) return undefined;
  if (check.kind === 'failed') {
    return `${name}: it could not be checked that made-up weights give the same kernels as the file's own weights: ${check.reason}`;
  }
  if (check.differences.length === 0) return undefined;
  const list = check.differences.map(
    ({ operator, ofFile, madeUp }) => `${operator} ${ofFile}, with made-up weights ${madeUp}`,
  );
  return `${name}: with the file's own weights, the runtime makes other kernels, so the estimate is for another graph: ${list.join('; ')}`;
}
