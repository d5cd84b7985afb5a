import { type ErrorCode, PlatformError } from '../base/errors.js';

export interface UnusableModel {
  readonly name: string;
  readonly reason: string;
}

/** Errors of one model: of its file, or of a runtime's use of it. All other errors concern all models. */
const ABOUT_ONE_MODEL: ReadonlySet<ErrorCode> = new Set(['model', 'unsupported', 'timeout']);

/** @throws the given error where it concerns all models */
export function unusableModel(name: string, error: unknown): UnusableModel {
  if (error instanceof PlatformError && ABOUT_ONE_MODEL.has(error.code)) {
    // Its messages begin with the file, which is usually also its name.
    const start = `${name}: `;
    return { name, reason: error.message.startsWith(start) ? error.message.slice(start.length) : error.message };
  }
  throw error;
}
