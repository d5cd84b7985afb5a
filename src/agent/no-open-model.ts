import { PlatformError } from '../base/errors.js';
import { quoted } from '../base/quoted.js';

/** The start of the message. An answer of an agent carries no more than the error code and the message. */
const START = 'no model is open under the id ';

export function noOpenModel(id: string, where = ''): PlatformError {
  return new PlatformError('not_found', `${START}${quoted(id)}${where}; open one`);
}

export function isNoOpenModel(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'not_found' && error.message.startsWith(START);
}
