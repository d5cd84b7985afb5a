import { z } from 'zod';

/**
 * How a benchmark is measured: one session, warm-up runs that are kept apart, then timed runs one after another.
 * Limits decide whether a measurement succeeds, not what it is, so they are not part of its key.
 */
export const protocolSchema = z.strictObject({
  warmupRuns: z.int().min(0).max(100_000),
  runs: z.int().min(1).max(1_000_000),
  /** Fewest runs that are made even when the time budget is used up. */
  minRuns: z.int().min(1),
  /** No further run starts after this much time in timed runs, once `minRuns` are there. */
  timeBudgetMs: z.number().positive(),
  /** 1 for a first measurement, 2 for its repetition at another time, which shows how repeatable the machine is. */
  occasion: z.int().min(1),
  timeLimitMs: z.number().positive(),
  /** Resident memory of the measuring process. */
  memoryLimitBytes: z.number().positive(),
});

export type Protocol = z.infer<typeof protocolSchema>;

/** The part of a protocol that a measurement depends on, as one short readable key. */
export function protocolKey(protocol: Protocol): string {
  const { warmupRuns, runs, minRuns, timeBudgetMs, occasion } = protocol;
  return `warmup=${warmupRuns},runs=${runs},min=${minRuns},budget=${timeBudgetMs}ms,occasion=${occasion}`;
}
