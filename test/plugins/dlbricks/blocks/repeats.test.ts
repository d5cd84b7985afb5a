import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { repeatsIn } from '../../../../plugins/dlbricks/blocks/find-blocks.js';

/** The letters of each repeat, and how often it comes. */
function found(text: string): readonly string[] {
  const labels = [...text].map((letter) => letter.charCodeAt(0));
  return repeatsIn(labels).map(({ first, length, count }) => `${count} x ${text.slice(first, first + length)}`);
}

describe('repeats in a list', () => {
  test('are the layers of a decoder, between what is there once', () => {
    assert.deepEqual(found(`se${'abbc'.repeat(12)}fg`), ['12 x abbc']);
  });

  test('are the blocks of each stage, in the order of the list', () => {
    assert.deepEqual(found('xababycdcdcdz'), ['2 x ab', '3 x cd']);
  });

  test('are not one thing that comes several times, nor things that come once', () => {
    assert.deepEqual(found('aaaaaa'), []);
    assert.deepEqual(found('abcdef'), []);
    assert.deepEqual(found(''), []);
  });
});
