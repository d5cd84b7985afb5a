import {
  type Benchmark,
  type BenchmarkAgent,
  modelFromBenchmark,
  nestedNodes,
  type OptimizedGraph,
  optimizingRun,
  PlatformError,
  type RunOptions,
} from '../../../src/plugin-api.js';

// The kernels that a runtime makes of a graph depend on some of its constants. Made-up constants should give the same
// kernels. Where the file's own weights are available, this is checked: the runtime optimizes the graph with them, and
// the kernels of both graphs are counted.

export interface KernelDifference {
  /** With its domain where it has one: "com.microsoft.QLinearAdd". */
  readonly operator: string;
  readonly ofFile: number;
  readonly madeUp: number;
}

export type KernelCheck =
  | { readonly kind: 'compared'; readonly differences: readonly KernelDifference[] }
  | { readonly kind: 'failed'; readonly reason: string };

function kernelCounts({ benchmark }: OptimizedGraph): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { domain, opType } of nestedNodes(modelFromBenchmark(benchmark, 'optimized graph').graph.nodes)) {
    const operator = domain === '' ? opType : `${domain}.${opType}`;
    counts.set(operator, (counts.get(operator) ?? 0) + 1);
  }
  return counts;
}

export function kernelDifferences(file: OptimizedGraph, filled: OptimizedGraph): readonly KernelDifference[] {
  const own = kernelCounts(file);
  const made = kernelCounts(filled);
  return [...new Set([...own.keys(), ...made.keys()])]
    .map((operator) => ({ operator, ofFile: own.get(operator) ?? 0, madeUp: made.get(operator) ?? 0 }))
    .filter(({ ofFile, madeUp }) => ofFile !== madeUp)
    .sort((a, b) => (a.operator < b.operator ? -1 : 1));
}

export interface CheckedKernels {
  readonly check: KernelCheck;
  readonly costMs: number;
}

/**
 * Has the runtime optimize a model with its own weights and compares the kernels with those of the filled one.
 *
 * @param own the whole model with the weights of its file
 * @throws PlatformError where the agent itself fails; a graph that cannot be optimized is a result
 */
export async function checkKernels(
  own: Benchmark,
  filled: OptimizedGraph,
  runOptions: RunOptions,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<CheckedKernels> {
  try {
    const file = await agent.optimize(own, optimizingRun(runOptions), signal);
    return { check: { kind: 'compared', differences: kernelDifferences(file, filled) }, costMs: file.costMs };
  } catch (error) {
    if (!(error instanceof PlatformError) || !['unsupported', 'model', 'storage'].includes(error.code)) throw error;
    return { check: { kind: 'failed', reason: error.message }, costMs: 0 };
  }
}

/** The warning of reports and commands; undefined where the kernels are the same or were not checked. */
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
