import { z } from 'zod';

/**
 * How often a benchmark runs in one session: warm-up runs, which are not counted, then timed runs one after another.
 */
export const protocolSchema = z.strictObject({
  warmupRuns: z.int().min(0).max(100_000),
  runs: z.int().min(1).max(1_000_000),
  /** Fewest runs that are made even when the time budget is used up. */
  minRuns: z.int().min(1),
  /** No further run starts after this much time in timed runs, once `minRuns` are there. */
  timeBudgetMs: z.number().positive(),
});

export type Protocol = z.infer<typeof protocolSchema>;

/** Limits of a measurement. They decide whether it succeeds and not its value, so they are not part of its key. */
export const limitsSchema = z.strictObject({
  /** Wall time of the whole measurement. */
  timeLimitMs: z.number().positive(),
  /** Resident memory of the worker. */
  memoryLimitBytes: z.number().positive(),
});

export type Limits = z.infer<typeof limitsSchema>;

/** A protocol as one short readable key. */
export function protocolKey({ warmupRuns, runs, minRuns, timeBudgetMs }: Protocol): string {
  return `warmup=${warmupRuns},runs=${runs},min=${minRuns},budget=${timeBudgetMs}ms`;
}
