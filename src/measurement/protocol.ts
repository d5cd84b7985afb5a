import { z } from 'zod';
import { positiveNumber, wholeNumber } from '../base/bounded-number.js';
import { counted } from '../base/counted.js';
import { differences } from '../base/differences.js';

const MAX_MS = 24 * 3600 * 1000;

const runsSchema = wholeNumber(1, 1_000_000);

/** Warm-up runs, which are not counted, then timed runs one after another. */
export const protocolSchema = z.strictObject({
  warmupRuns: wholeNumber(0, 100_000),
  runs: runsSchema,
  /** Timed runs that are made even when the time budget is used up. */
  minRuns: runsSchema,
  /** No further run starts after this much time in timed runs, once `minRuns` are done. */
  timeBudgetMs: positiveNumber(MAX_MS),
});

export type Protocol = z.infer<typeof protocolSchema>;

/** Limits of a measurement. They decide whether it succeeds and not its value, so they are not part of its key. */
export const limitsSchema = z.strictObject({
  timeLimitMs: positiveNumber(MAX_MS),
  /** Resident memory of the worker. */
  memoryLimitBytes: positiveNumber(),
});

export type Limits = z.infer<typeof limitsSchema>;

export function protocolKey({ warmupRuns, runs, minRuns, timeBudgetMs }: Protocol): string {
  return `warmup=${warmupRuns},runs=${runs},min=${minRuns},budget=${timeBudgetMs}ms`;
}

/** Gives a function that says in which numbers a protocol differs from the others. */
export function protocolDifferences(protocols: readonly Protocol[]): (protocol: Protocol) => string {
  return differences(protocols, [
    ({ runs }) => counted(runs, 'run'),
    ({ warmupRuns }) => counted(warmupRuns, 'warm-up run'),
    ({ minRuns }) => `at least ${counted(minRuns, 'run')}`,
    ({ timeBudgetMs }) => `within ${timeBudgetMs} ms`,
  ]);
}
