import { EXIT_CODES, messageOf, PlatformError } from '../base/errors.js';

/** The message of a failed command, and its exit code. */
export interface CommandFailure {
  readonly message: string;
  readonly exitCode: number;
}

/** The message for a thrown value: our own errors unchanged, all others with the request to report them. */
export function commandFailureOf(thrown: unknown): CommandFailure {
  if (thrown instanceof PlatformError) return { message: thrown.message, exitCode: EXIT_CODES[thrown.code] };
  const stack = process.env['MLMODELSCOPE_DEBUG'] !== undefined && thrown instanceof Error ? `\n${thrown.stack}` : '';
  return {
    message: `unexpected error: ${messageOf(thrown)}; this is a defect of mlmodelscope, please report it (MLMODELSCOPE_DEBUG=1 shows where it happened)${stack}`,
    exitCode: EXIT_CODES.internal,
  };
}
