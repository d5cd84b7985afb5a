import type { Protocol } from '../measurement/protocol.js';

/** Runs of a composite for each run that the protocol asks of a model: a model is a sum of many bricks, whose errors average out. */
const RUNS_PER_RUN = 1 / 4;

/** Fewest runs of a composite, as far as the protocol asks for so many: of three runs, the median is taken. */
const LEAST_RUNS = 3;

/**
 * Part of the protocol's time for the runs of one model that a composite may take once it has its fewest runs. More runs in one
 * process say little: they differ from each other by less than processes do, so that time is better spent on another occasion.
 */
const SHARE_OF_TIME_BUDGET = 1 / 40;

/** Runs before the timed ones: the first gets its memory from the system. See ProfileOptions: no later run does. */
const WARMUP_RUNS = 1;

/** The protocol of a composite, from the protocol of single benchmarks. */
export function protocolOfComposite({ runs, minRuns, warmupRuns, timeBudgetMs }: Protocol): Protocol {
  const wanted = Math.min(runs, Math.max(LEAST_RUNS, Math.ceil(runs * RUNS_PER_RUN)));
  return {
    runs: wanted,
    minRuns: Math.min(wanted, minRuns, LEAST_RUNS),
    warmupRuns: Math.min(warmupRuns, WARMUP_RUNS),
    timeBudgetMs: timeBudgetMs * SHARE_OF_TIME_BUDGET,
  };
}
