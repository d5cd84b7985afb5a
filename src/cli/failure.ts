import { EXIT_CODES, messageOf, PlatformError } from '../base/errors.js';

/** What a failed command prints, and the code that it exits with. */
export interface CommandFailure {
  readonly message: string;
  readonly exitCode: number;
}

/** A thrown value as a user should meet it: our own errors as they are, everything else with a way to report it. */
export function commandFailureOf(thrown: unknown): CommandFailure {
  if (thrown instanceof PlatformError) return { message: thrown.message, exitCode: EXIT_CODES[thrown.code] };
  const stack = process.env['MLMODELSCOPE_DEBUG'] !== undefined && thrown instanceof Error ? `\n${thrown.stack}` : '';
  return {
    message: `unexpected error: ${messageOf(thrown)}; this is a defect of mlmodelscope, please report it (MLMODELSCOPE_DEBUG=1 shows where it happened)${stack}`,
    exitCode: EXIT_CODES.internal,
  };
}
