/**
 * The kinds of errors, as a closed set. Each code maps to one exit code of the command line and one gRPC status, so
 * that a caller can act on it without reading the message.
 */
export type ErrorCode =
  | 'usage' // the command or request itself is wrong
  | 'manifest' // a manifest is wrong
  | 'model' // a model file is missing, damaged or cannot be used as it is
  | 'unsupported' // correct input that this project or the runtime does not support
  | 'not_found'
  | 'unavailable' // a server or process that is needed does not answer
  | 'exhausted' // a limit on concurrent use is reached
  | 'unauthenticated' // no token, or a wrong one
  | 'forbidden' // a token without the role that the call needs
  | 'timeout'
  | 'cancelled'
  | 'storage' // the store or the disk failed
  | 'internal';

/**
 * The process's exit code for each error code: 2 for wrong input, 1 for work that could not be done, 130 for a
 * cancellation.
 */
export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  usage: 2,
  manifest: 2,
  model: 2,
  unsupported: 1,
  not_found: 2,
  unavailable: 1,
  exhausted: 1,
  unauthenticated: 1,
  forbidden: 1,
  timeout: 1,
  cancelled: 130,
  storage: 1,
  internal: 1,
};

/**
 * The only error class that this project throws on purpose. The message says what was wrong, where, and what to do.
 * Users see it unchanged, without a stack trace.
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Most lines of a stack that are shown. */
const MAX_STACK_LINES = 8;

/**
 * The same for foreign code, such as a plugin's: with the beginning of the stack, which names the line of the code. A
 * PlatformError is meant for users, and has no more than its message.
 */
export function foreignMessageOf(thrown: unknown): string {
  if (thrown instanceof PlatformError || !(thrown instanceof Error) || thrown.stack === undefined) {
    return messageOf(thrown);
  }
  const lines = thrown.stack.split('\n').filter((line) => line.trim() !== '' && !line.includes('node:internal'));
  return lines.slice(0, MAX_STACK_LINES).join('\n');
}
