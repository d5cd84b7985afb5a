/** The exit code of each error: 2 for wrong input, 1 for work that could not be done, 130 for a cancellation. */
export const EXIT_CODES = {
  usage: 2, // the command or request itself is wrong
  manifest: 2,
  model: 2, // a model file is missing, damaged or cannot be used as it is
  unsupported: 1, // correct input that this project or the runtime does not support
  not_found: 2,
  unavailable: 1, // a server or process that is needed does not answer
  exhausted: 1, // a limit on concurrent use is reached
  unauthenticated: 1, // no token, or a wrong one
  forbidden: 1, // a token without the role that the call needs
  timeout: 1,
  cancelled: 130,
  storage: 1, // the store or the disk failed
  internal: 1,
} as const;

/** Each has one exit code and one gRPC status, so that a caller can act on it without reading the message. */
export type ErrorCode = keyof typeof EXIT_CODES;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(EXIT_CODES, value);
}

/** The only error that this project throws on purpose. Users see its message: what was wrong, where, and what to do. */
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

/** The code that the operating system or a library gave an error, such as ENOENT; empty for none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

const MAX_STACK_LINES = 8;

/** For foreign code, such as a plugin's: with the beginning of the stack, which names the line of the code. */
export function describeForeignError(thrown: unknown): string {
  if (thrown instanceof PlatformError || !(thrown instanceof Error) || thrown.stack === undefined) {
    return messageOf(thrown);
  }
  const lines = thrown.stack.split('\n').filter((line) => line.trim() !== '' && !line.includes('node:internal'));
  return lines.slice(0, MAX_STACK_LINES).join('\n');
}
