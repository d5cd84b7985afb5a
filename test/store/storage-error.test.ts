import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { storageError } from '../../src/store/storage-error.js';

test('a failure of the operating system says what to do about it, anything else its own message', () => {
  const full = Object.assign(new Error('write failed'), { code: 'ENOSPC' });
  const { code, message, cause } = storageError('/data', 'cannot be written', full);
  assert.equal(code, 'storage');
  assert.match(message, /^The store \/data cannot be written: the disk is full: free some space/);
  assert.equal(cause, full);
  assert.equal(storageError('/data', 'broke', new Error('odd')).message, 'The store /data broke: odd.');
});

test('an error that says already what to do is passed on', () => {
  const known = new PlatformError('usage', 'another process writes');
  assert.equal(storageError('/data', 'broke', known), known);
});
