import type { EstimatedBricks } from '../measurement/estimated-bricks.js';

/** In milliseconds, null where unknown. */
export interface Achieved {
  readonly latency_ms: number | null;
  readonly low_ms: number | null;
  readonly high_ms: number | null;
  readonly whole_ms: number | null;
  readonly parts?: EstimatedBricks | undefined;
}
