import assert from 'node:assert/strict';
import { type ErrorCode, PlatformError } from '../../../../src/base/errors.js';

/** Asserts that a promise fails with this code, and with a message that matches all `words`. */
export async function refused(promise: Promise<unknown>, code: ErrorCode, ...words: readonly RegExp[]): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof PlatformError, String(error));
    assert.equal(error.code, code, error.message);
    for (const word of words) assert.match(error.message, word);
    return true;
  });
}
