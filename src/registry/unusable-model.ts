import { type ErrorCode, PlatformError } from '../base/errors.js';

export interface UnusableModel {
  readonly name: string;
  readonly reason: string;
}

/** All other errors concern all models. */
const ABOUT_ONE_MODEL: ReadonlySet<ErrorCode> = new Set(['model', 'unsupported', 'timeout']);

export function unusableModel(name: string, error: unknown): UnusableModel {
  if (error instanceof PlatformError && ABOUT_ONE_MODEL.has(error.code)) {
    // Messages begin with the file, usually also the name.
    const start = `${name}: `;
    return { name, reason: error.message.startsWith(start) ? error.message.slice(start.length) : error.message };
  }
  throw error;
}
