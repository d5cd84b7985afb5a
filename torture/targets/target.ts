import type { Round } from '../place/round.js';

/** Something that is killed, cut or confused, and what has to hold afterwards. */
export interface Target {
  readonly name: string;
  /** Number of its rounds out of fifty; cheap targets get more. */
  readonly share: number;
  /** The requirement that this machine lacks; undefined where nothing is missing. */
  missing?(): string | undefined;
  /** @throws what does not hold */
  run(round: Round): Promise<void>;
}
