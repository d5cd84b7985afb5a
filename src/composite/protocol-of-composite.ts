import type { Protocol } from '../measurement/protocol.js';

/** A model is a sum of many bricks, whose errors average out. */
const RUNS_PER_RUN = 1 / 4;

/** Fewest runs of a composite, unless the protocol asks for fewer. The latency of three runs is their median. */
export const MIN_COMPOSITE_RUNS = 3;

/** Of the time budget for one model. Runs of one process differ less than processes: another occasion shows more. */
const SHARE_OF_TIME_BUDGET = 1 / 40;

/** Warm-up runs. The first run gets its memory as its values are made, and the second one as the plan has it. */
const WARMUP_RUNS = 2;

export function protocolOfComposite({ runs, minRuns, warmupRuns, timeBudgetMs }: Protocol): Protocol {
  const wanted = Math.min(runs, Math.max(MIN_COMPOSITE_RUNS, Math.ceil(runs * RUNS_PER_RUN)));
  return {
    runs: wanted,
    minRuns: Math.min(wanted, minRuns, MIN_COMPOSITE_RUNS),
    warmupRuns: Math.min(warmupRuns, WARMUP_RUNS),
    timeBudgetMs: timeBudgetMs * SHARE_OF_TIME_BUDGET,
  };
}
