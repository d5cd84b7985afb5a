import assert from 'node:assert/strict';
import { type ErrorCode, PlatformError } from '../../../src/base/errors.js';

/** For assert.throws: an error of the platform with this code, whose message matches. */
export function refusal(code: ErrorCode, message = /./): (error: unknown) => boolean {
  return (error) => error instanceof PlatformError && error.code === code && message.test(error.message);
}

/** Asserts that a promise fails with this code, and with a message that has all `words`. */
export async function assertRefused(
  asked: Promise<unknown> | (() => Promise<unknown>),
  code: ErrorCode,
  ...words: readonly (string | RegExp)[]
): Promise<void> {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof PlatformError, String(error));
    assert.equal(error.code, code, error.message);
    const missing = words.find((word) =>
      typeof word === 'string' ? !error.message.includes(word) : !word.test(error.message),
    );
    assert.equal(missing, undefined, error.message);
    return true;
  });
}
