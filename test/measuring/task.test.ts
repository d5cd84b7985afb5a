import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctTasks } from '../../src/measuring/task.js';
import { sampleTasks } from './sample-tasks.js';

test('tasks with the same benchmark, context and occasion become one task, at the place of the first', () => {
  const [relu, neg] = sampleTasks('a: Relu', 'a: Neg');
  assert.ok(relu !== undefined && neg !== undefined);
  const same = { ...relu, label: 'b: Relu' };
  const later = { ...relu, request: { ...relu.request, occasion: 2 } };
  const elsewhere = { ...relu, request: { ...relu.request, context: { footprintBytes: 2 ** 20 } } };
  assert.deepEqual(distinctTasks([relu, neg, same, later, elsewhere]), [relu, neg, later, elsewhere]);
});
