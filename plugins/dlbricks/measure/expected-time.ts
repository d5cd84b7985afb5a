import { type Protocol, protocolOfComposite } from '../../../src/plugin-api.js';

// How long measurements take in proportion to each other, for the estimate of the remaining time. Work is for the
// imaginary processor of rough-time.ts. None of this enters a latency.

/** Cost of a process, a session and a graph, for each brick that shares them. */
const MS_TOGETHER = 5;

/** Cost of a process, a session and a graph for one benchmark alone. */
const MS_ALONE = 300;

/** Weights are filled, written, and read by the runtime. */
const WEIGHT_BYTES_PER_MS = 5e5;

interface Work {
  readonly roughMs: number;
  readonly weightBytes: number;
}

function countExpectedRuns({ warmupRuns, runs, minRuns, timeBudgetMs }: Protocol, roughMs: number): number {
  const within = roughMs > 0 ? Math.ceil(timeBudgetMs / roughMs) : runs;
  return warmupRuns + Math.min(runs, Math.max(minRuns, within));
}

export function expectedMsAlone({ roughMs, weightBytes }: Work, protocol: Protocol): number {
  return MS_ALONE + weightBytes / WEIGHT_BYTES_PER_MS + countExpectedRuns(protocol, roughMs) * roughMs;
}

export function expectedMsTogether({ roughMs, weightBytes }: Work, protocol: Protocol): number {
  return (
    MS_TOGETHER +
    weightBytes / WEIGHT_BYTES_PER_MS +
    countExpectedRuns(protocolOfComposite(protocol), roughMs) * roughMs
  );
}
