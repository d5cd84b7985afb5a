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

test('each failure of the operating system has its advice', () => {
  const advice: readonly [code: string, advice: RegExp][] = [
    ['EACCES', /this user may not read or write there: change the permissions, or choose another place with --store/],
    ['EPERM', /this user may not read or write there/],
    ['EROFS', /the file system is read-only/],
    ['ENOENT', /that folder cannot be created/],
    ['ENOSPC', /the disk is full/],
    ['EDQUOT', /disk quota is used up/],
    ['EFBIG', /ulimit -f/],
    ['EEXIST', /a part of that path is a file/],
    ['ENOTDIR', /a part of that path is a file/],
    ['EISDIR', /a folder is where a file should be/],
    ['EMFILE', /ulimit -n/],
    ['EIO', /the disk failed/],
  ];
  for (const [code, expected] of advice) {
    const { message, code: ofError } = storageError('/data', 'broke', Object.assign(new Error('odd'), { code }));
    assert.equal(ofError, ['EEXIST', 'ENOTDIR'].includes(code) ? 'usage' : 'storage', code);
    assert.match(message, expected, code);
    assert.doesNotMatch(message, /odd/);
  }
  assert.equal(storageError('/data', 'broke', 'odd').message, 'The store /data broke: odd.');
  assert.match(storageError('/data', 'broke', undefined).message, /^The store \/data broke: /);
});
