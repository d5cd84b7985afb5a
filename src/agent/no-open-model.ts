import { PlatformError } from '../base/errors.js';
import { quoted } from '../base/quoted.js';

/** @throws PlatformError `usage` for a request without one */
export function openModelId(request: {
  readonly predictor?: { readonly id: string } | undefined;
  /** Of `Reset` alone. */
  readonly id?: string;
}): string {
  const id = request.predictor?.id || request.id;
  if (id) return id;
  throw new PlatformError('usage', 'predictor.id is empty; `Open` gives the id of an open model');
}

/** The start of the message. An answer of an agent carries no more than the error code and the message. */
const START = 'no model is open under the id ';

export function noOpenModel(id: string, where = ''): PlatformError {
  return new PlatformError('not_found', `${START}${quoted(id)}${where}; open one`);
}

export function isNoOpenModel(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'not_found' && error.message.startsWith(START);
}
