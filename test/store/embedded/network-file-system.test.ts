import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { networkWarning } from '../../../src/store/embedded/network-file-system.js';

describe('networkWarning', () => {
  it('warns about NFS, naming the folder', () => {
    assert.match(
      networkWarning('/home/me/store', 0x6969) ?? '',
      /\/home\/me\/store is on a network file system \(NFS\)/,
    );
  });

  it('knows a type that a platform reports as a negative number', () => {
    assert.match(networkWarning('/mnt/store', 0xff534d42 | 0) ?? '', /SMB/);
  });

  it('says nothing about a local disk', () => {
    assert.equal(networkWarning('/home/me/store', 0xef53), undefined);
  });
});
