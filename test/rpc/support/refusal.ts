import { type ErrorCode, PlatformError } from '../../../src/base/errors.js';

/** For assert.rejects and assert.throws: an error of the platform with this code, whose message matches. */
export function refusal(code: ErrorCode, message = /./): (error: unknown) => boolean {
  return (error) => error instanceof PlatformError && error.code === code && message.test(error.message);
}
