import type { Round } from '../place/round.js';

/** A disturbance (a kill, a cut or a wrong clock), and the checks that have to hold afterwards. */
export interface Target {
  readonly name: string;
  /** Number of its rounds out of fifty; cheap targets get more. */
  readonly share: number;
  /** The requirement that this machine lacks; undefined where nothing is missing. */
  missing?(): string | undefined;
  /** @throws an error for a check that does not hold */
  run(round: Round): Promise<void>;
}
