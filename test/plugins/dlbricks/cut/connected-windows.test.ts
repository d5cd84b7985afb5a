import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectedWindows } from '../../../../plugins/dlbricks/cut/layer-cut.js';

describe('windows of layers', () => {
  test('of one layer are connected, the last one too', () => {
    assert.deepEqual(connectedWindows([[], [0], []], 1), [true, true, true]);
  });

  test('of two layers are connected where the second reads the first; the last window has one layer', () => {
    assert.deepEqual(connectedWindows([[], [0], [0], [2]], 2), [true, false, true, true]);
  });

  test('are connected by layers inside only', () => {
    // Layers 1 and 2 both read 0, and 3 reads both.
    assert.deepEqual(connectedWindows([[], [0], [0], [1, 2]], 3), [true, true, true, true]);
    assert.deepEqual(connectedWindows([[], [0], [0], [1, 2]], 2), [true, false, true, true]);
  });

  test('of no layers are none', () => assert.deepEqual(connectedWindows([], 3), []));
});
