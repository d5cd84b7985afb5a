import { PlatformError } from '../../src/base/errors.js';
import type { Random } from '../random.js';

/** The result of an input: something valid, or a refusal that names a place. */
export type Verdict = 'read' | 'refused';

/** A reader of what comes from outside. */
export interface Target {
  readonly name: string;
  /** Inputs as they should be, from which the others are made; the same with every call. */
  seeds(): Promise<readonly Uint8Array[]>;
  /** One change of an input. */
  mutate(input: Uint8Array, random: Random): Uint8Array;
  /**
   * @param folder for files, which is the target's own
   * @throws anything where the input becomes neither valid nor refused as it should be
   */
  check(input: Uint8Array, folder: string): Promise<Verdict>;
}

/** A refusal, if it is one that users can act upon. @param place what the message must name */
export function refusal(error: unknown, place: string): Verdict {
  if (!(error instanceof PlatformError)) throw error;
  if (error.code !== 'internal' && error.message.includes(place)) return 'refused';
  throw new Error(`a refusal (${error.code}) that does not name ${place}: ${error.message}`, { cause: error });
}

/** Whether something is read or refused. */
export async function readOrRefused(read: () => unknown, place: string): Promise<Verdict> {
  try {
    await read();
    return 'read';
  } catch (error) {
    return refusal(error, place);
  }
}
