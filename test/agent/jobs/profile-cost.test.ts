import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  correctedCost,
  costByIdleNodes,
  computeKernelCost,
  computeCostShare,
} from '../../../src/agent/jobs/profile-cost.js';
import { IDLE_INPUTS } from '../../../src/composite/composite.js';
import type { ProfiledKernel, ProfiledRun } from '../../../src/predictor/profile.js';

function kernel(name: string, ms: number, inputs = 1, outputs = 1): ProfiledKernel {
  const [inputDims, outputDims] = [inputs, outputs].map((length) => Array.from({ length }, () => [1]));
  const tensors = {
    inputDims: inputDims ?? [],
    outputDims: outputDims ?? [],
    inputTypes: [],
    outputTypes: [],
    elementType: '',
    inner: [],
  };
  return { name, opType: 'Op', executionProvider: 'cpu', startNs: 0, durationNs: ms * 1e6, ...tensors };
}

const [FEW, MANY] = IDLE_INPUTS;
const UNWATCHED = {
  nodeMs: new Map([
    [FEW, 0.001],
    [MANY, 0.0015],
  ]),
  callMs: 0.02,
};
const KERNELS = 100;

/** The composite of {@link profileOf}: nothing is around its bricks. */
const ALL_BRICKS = {
  nodesOf: Array.from({ length: KERNELS }, (_, at) => [`k${at}`]),
  lightNodes: new Set<string>(),
};

/** Runs of kernels of a millisecond whose events cost this much, with what a run differs from the others. */
function profileOf(costMs: number, drifts: readonly number[]): readonly ProfiledRun[] {
  return drifts.map((drift) => {
    const kernels = Array.from({ length: KERNELS }, (_, at) => kernel(`k${at}`, 1 + costMs + drift / KERNELS));
    return { durationNs: 0, kernels };
  });
}

describe('the cost of the profile', () => {
  test('by idle nodes is linear in the number of inputs', () => {
    const idleNodes = new Map([
      [FEW, ['few']],
      [MANY, ['many']],
    ]);
    const profile = [{ durationNs: 0, kernels: [kernel('few', 0.004), kernel('many', 0.0075, MANY)] }];
    const cost = costByIdleNodes({ idleNodes }, profile, UNWATCHED);
    assert.deepEqual(
      [1, 2, 3, 4].map((inputs) => cost(inputs).toFixed(6)),
      ['0.003000', '0.004000', '0.005000', '0.006000'],
    );
    assert.equal(computeCostShare(profile, cost).toFixed(3), ((0.003 + 0.006) / 0.0115).toFixed(3));
  });

  test('by idle nodes is neither negative nor less for more inputs, and that of one input where there is none', () => {
    const idleNodes = new Map([
      [FEW, ['few']],
      [MANY, ['many']],
    ]);
    const costOf = (fewMs: number, manyMs: number) => {
      const kernels = [kernel('few', fewMs), kernel('many', manyMs, MANY)];
      const cost = costByIdleNodes({ idleNodes }, [{ durationNs: 0, kernels }], UNWATCHED);
      return [0, 1, 4].map((inputs) => cost(inputs).toFixed(6));
    };
    assert.deepEqual(costOf(0.0005, 0.001), ['0.000000', '0.000000', '0.000000']);
    assert.deepEqual(costOf(0.004, 0.002), ['0.003000', '0.003000', '0.003000']);
    assert.deepEqual(costOf(0.0005, 0.0045), ['0.000000', '0.000000', '0.003000']);
  });

  test('is that of all tensors of an event, which the profile describes: outputs as well', () => {
    const cost = (tensors: number): number => tensors;
    const events = [kernel('one', 1), kernel('three inputs', 1, 3), kernel('a split', 1, 2, 8)];
    assert.deepEqual(
      events.map((one) => computeKernelCost(one, cost)),
      [1, 3, 9],
    );
  });

  test('is that of the difference from runs without the profile, where that is exact', () => {
    const steady = [0, 1e-6, -1e-6];
    const without = steady.map((drift) => KERNELS + UNWATCHED.callMs + drift);
    for (const real of [0.0005, 0.002, 0.004]) {
      const corrected = correctedCost(ALL_BRICKS, () => 0.002, profileOf(real, steady), without, UNWATCHED);
      assert.ok(Math.abs(corrected(1) - real) < 1e-6, `${corrected(1)} for ${real}`);
    }
  });

  test('stays that of idle nodes where runs differ by more than the cost', () => {
    const unsteady = [-20, 0, 30];
    const without = [95, 100, 140];
    const corrected = correctedCost(ALL_BRICKS, () => 0.002, profileOf(0.002, unsteady), without, UNWATCHED);
    assert.ok(Math.abs(corrected(1) - 0.002) < 1e-4, `${corrected(1)}`);
    assert.equal(correctedCost(ALL_BRICKS, () => 0.002, profileOf(0.002, [0]), without, UNWATCHED)(1), 0.002);
    assert.equal(correctedCost(ALL_BRICKS, () => 0.002, profileOf(0.002, unsteady), [], UNWATCHED)(1), 0.002);
  });

  test('is corrected for the nodes that work, where others are idle', () => {
    const steady = [0, 1e-6, -1e-6];
    // Half of the nodes cost 2 µs as idle nodes do, the others 4 µs.
    const lightNodes = new Set(ALL_BRICKS.nodesOf.slice(KERNELS / 2).flat());
    const profile = profileOf(0.004, steady).map((run) => {
      const kernels = run.kernels.map((one) => {
        return lightNodes.has(one.name) ? { ...one, durationNs: one.durationNs - 2000 } : one;
      });
      return { ...run, kernels };
    });
    const without = steady.map((drift) => KERNELS + UNWATCHED.callMs + drift);
    const nodesOf = ALL_BRICKS.nodesOf.slice(0, KERNELS / 2);
    const corrected = correctedCost({ nodesOf, lightNodes }, () => 0.002, profile, without, UNWATCHED);
    assert.ok(Math.abs(corrected(1) - 0.004) < 1e-6, `${corrected(1)}`);
  });

  test('stays that of idle nodes where most of the time is around the bricks', () => {
    const steady = [0, 1e-6, -1e-6];
    const without = steady.map((drift) => KERNELS + UNWATCHED.callMs + drift);
    const few = { ...ALL_BRICKS, nodesOf: ALL_BRICKS.nodesOf.slice(0, 10) };
    const corrected = correctedCost(few, () => 0.002, profileOf(0.004, steady), without, UNWATCHED);
    assert.ok(Math.abs(corrected(1) - 0.002) < 1e-4, `${corrected(1)}`);
  });

  test('is corrected where little time is around the bricks: how much it differs counts with its square', () => {
    const steady = [0, 1e-6, -1e-6];
    const profile = profileOf(0.004, steady).map((run) => {
      return { ...run, kernels: run.kernels.map((one) => ({ ...one, durationNs: one.durationNs - 0.99e6 })) };
    });
    const without = steady.map((drift) => KERNELS * 0.01 + UNWATCHED.callMs + drift);
    const nodesOf = ALL_BRICKS.nodesOf.slice(0, KERNELS / 2);
    const corrected = correctedCost({ ...ALL_BRICKS, nodesOf }, () => 0.002, profile, without, UNWATCHED);
    // Half of the kernels, of 14 µs, are around: they differ by 3 %, which is 0.2 µs for each kernel.
    const weight = 1 / (1 + ((0.03 * 50 * 14) / KERNELS) ** 2);
    assert.ok(Math.abs(corrected(1) - (0.002 + weight * 0.002)) < 1e-6, `${corrected(1)}`);
  });

  test('is never negative', () => {
    const steady = [0, 1e-6, -1e-6];
    const slower = steady.map((drift) => KERNELS + 5 + drift);
    assert.equal(correctedCost(ALL_BRICKS, () => 0.002, profileOf(0, steady), slower, UNWATCHED)(1), 0);
  });
});
