import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shortIds } from '../../src/base/short-ids.js';

describe('ids in a table', () => {
  it('have as many digits as make them different, at least 8', () => {
    assert.equal(shortIds(['0123456789ab', 'ffff'])('0123456789ab'), '01234567');
    const alike = ['0123456789ab', '0123456789ac', '0123456789ab'];
    assert.deepEqual(alike.map(shortIds(alike)), alike);
    assert.deepEqual([...new Set(alike.map(shortIds([alike[0] ?? '', 'ffffffffffff'])))], ['01234567']);
  });
});
