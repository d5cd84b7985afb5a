import type { Round } from '../place/round.js';

/** Something that is killed, cut or confused, and what has to hold afterwards. */
export interface Target {
  readonly name: string;
  /** Of how many rounds out of fifty; cheap ones get more. */
  readonly share: number;
  /** What this machine lacks for it; undefined where nothing is missing. */
  missing?(): string | undefined;
  /** @throws what does not hold */
  run(round: Round): Promise<void>;
}
