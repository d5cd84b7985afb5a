import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomesOf } from '../../../src/agent/jobs/measure-bricks.js';
import type { Composite } from '../../../src/composite/composite.js';
import type { ProfiledKernel } from '../../../src/predictor/profile.js';

function kernel(name: string, durationNs: number, inner: readonly ProfiledKernel[] = []): ProfiledKernel {
  const tensors = { inputDims: [], outputDims: [], inputTypes: [], outputTypes: [], elementType: 'float32' };
  return { name, opType: 'Op', executionProvider: 'cpu', startNs: 0, durationNs, ...tensors, inner };
}

test('every kernel that was watched costs as much as an idle one, those of subgraphs as often as they ran', () => {
  const benchmark = { signature: '', model: new Uint8Array(), inputs: [] };
  const composite: Composite = { benchmark, nodesOf: [['plain'], ['loop']], idleNodes: ['idle'] };
  const twoTrips = [kernel('inner', 1000), kernel('inner', 1000)];
  const kernels = [kernel('plain', 50_000), kernel('loop', 90_000, twoTrips), kernel('idle', 4000)];
  const outcomes = outcomesOf(composite, [{ durationNs: 200_000, kernels }], 0.001);
  // An idle kernel takes 4 µs watched and 1 µs unwatched; the loop is watched once, and twice inside.
  assert.deepEqual(
    outcomes.map(({ overheadMs }) => overheadMs?.toFixed(6)),
    ['0.003000', '0.009000'],
  );
});
