import type { EstimatedBricks } from '../measurement/estimated-bricks.js';

/** What a model took, as a log has it; times in milliseconds, null where they are unknown. */
export interface Achieved {
  readonly latency_ms: number | null;
  readonly low_ms: number | null;
  readonly high_ms: number | null;
  /** Of the whole model, measured beside an estimate. */
  readonly whole_ms: number | null;
  /** The parts of an estimate. */
  readonly parts?: EstimatedBricks | undefined;
}
