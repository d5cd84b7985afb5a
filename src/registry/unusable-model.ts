import { type ErrorCode, PlatformError } from '../base/errors.js';

/** A model that others go on without. */
export interface UnusableModel {
  readonly name: string;
  /** The problem, and its remedy. */
  readonly reason: string;
}

/** Errors that are about one model, its file or a runtime's use of it; all others are about all models. */
const ABOUT_ONE_MODEL: ReadonlySet<ErrorCode> = new Set(['model', 'unsupported', 'timeout']);

/**
 * The model as one that others go on without.
 *
 * @throws the given error where it is not about one model
 */
export function unusableModel(name: string, error: unknown): UnusableModel {
  if (error instanceof PlatformError && ABOUT_ONE_MODEL.has(error.code)) {
    // Its messages begin with the file, which is its name as a rule.
    const start = `${name}: `;
    return { name, reason: error.message.startsWith(start) ? error.message.slice(start.length) : error.message };
  }
  throw error;
}
