import { PlatformError } from '../../src/base/errors.js';
import type { Random } from '../random.js';

/** The result of an input: it is read as valid, or refused with an error that names its place. */
export type Verdict = 'read' | 'refused';

/** A reader of input from outside. */
export interface Target {
  readonly name: string;
  /** Valid inputs, from which the others are made; the same in every call. */
  seeds(): Promise<readonly Uint8Array[]>;
  /** One change of an input. */
  mutate(input: Uint8Array, random: Random): Uint8Array;
  /**
   * @param folder for files, which no other target uses
   * @throws any error where the reader neither reads the input nor refuses it properly
   */
  check(input: Uint8Array, folder: string): Promise<Verdict>;
}

/** `refused` for an error that users can act on; throws otherwise. @param place that the message must name */
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
