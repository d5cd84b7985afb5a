import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measureBricks, collectOutcomes } from '../../../src/agent/jobs/measure-bricks.js';
import { type Composite, buildComposite } from '../../../src/composite/composite.js';
import type { ProfiledKernel, ProfiledRun } from '../../../src/predictor/profile.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { setupOf } from '../support/measure-one.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

function kernel(name: string, durationNs: number, inputs = 1, inner: readonly ProfiledKernel[] = []): ProfiledKernel {
  const inputDims = Array.from({ length: inputs }, () => [1]);
  const tensors = { inputDims, outputDims: [], inputTypes: [], outputTypes: [], elementType: 'float32' };
  return { name, opType: 'Op', executionProvider: 'cpu', startNs: 0, durationNs, ...tensors, inner };
}

/** An event costs 3 µs, and each further input one. */
const cost = (inputs: number): number => 0.002 + 0.001 * inputs;

describe('samples of a composite', () => {
  const benchmark = { signature: '', model: new Uint8Array(), inputs: [] };
  const composite = { benchmark, idleNodes: new Map(), lightNodes: new Set<string>() };

  test('are in the profile as much longer as their events cost, those in subgraphs included', () => {
    const twoTrips = [kernel('inner', 1000), kernel('inner', 1000)];
    const kernels = [kernel('plain', 50_000), kernel('three', 50_000, 3), kernel('loop', 90_000, 1, twoTrips)];
    const nodesOf = [['plain'], ['three'], ['loop']];
    const outcomes = collectOutcomes({ ...composite, nodesOf, times: 1 }, [{ durationNs: 200_000, kernels }], cost);
    assert.deepEqual(
      outcomes.map(({ overheadMs }) => overheadMs?.toFixed(6)),
      ['0.003000', '0.005000', '0.009000'],
    );
  });

  test('are the mean over the times of a brick', () => {
    const kernels = [kernel('a', 10_000), kernel('b', 20_000, 3), kernel('c', 30_000), kernel('d', 40_000, 3)];
    // A brick of two nodes, in two times.
    const twice: Composite = { ...composite, nodesOf: [['a', 'b', 'c', 'd']], times: 2 };
    const [outcome] = collectOutcomes(twice, [{ durationNs: 100_000, kernels }], cost);
    assert.deepEqual(
      outcome?.runMs.map((ms) => ms.toFixed(6)),
      ['0.050000'],
    );
    assert.equal(outcome?.overheadMs?.toFixed(6), '0.008000');
  });
});

describe('a profile that does not match its composite', () => {
  /** Measures one brick with a runtime that keeps this profile. The protocol has one warm-up run and three runs. */
  function measureWith(profile: (runs: readonly ProfiledRun[]) => readonly ProfiledRun[]) {
    const { nodesOf, idleNodes } = buildComposite([relu], 0);
    const kernels = [...nodesOf.flat(), ...[...idleNodes.values()].flat()].map((name) => kernel(name, 5000));
    const kept = profile(Array.from({ length: 4 }, () => ({ durationNs: 20_000, kernels })));
    const predictor = fakePredictor({}, kept);
    return withTemporaryFolder((temporaryFolder) => {
      const context = fakeContext({ predictor, temporaryFolder });
      const repetition = { times: 1, weightSets: 1 };
      const setup = { runOptions, ...setupOf({ ...protocol, warmupRuns: 1, runs: 3, minRuns: 3 }) };
      return measureBricks({ kind: 'measure-bricks', bricks: [relu], paddingBytes: 0, repetition, ...setup }, context);
    });
  }

  async function failureOf(profile: Parameters<typeof measureWith>[0]): Promise<string> {
    const [measured] = await measureWith(profile);
    return measured?.outcome.kind === 'failure' ? measured.outcome.message : `no failure: ${measured?.outcome.kind}`;
  }

  test('is a failure of its bricks that says how many runs the profile has', async () => {
    assert.match(await failureOf((runs) => runs.slice(1)), /kept a profile of 3 runs out of 4; ask for fewer runs/);
    assert.match(await failureOf(() => []), /kept a profile of 0 runs out of 4/);
  });

  test('is a failure that names the missing node, also where all names are foreign', async () => {
    const without = (run: ProfiledRun): ProfiledRun => ({ ...run, kernels: run.kernels.slice(1) });
    assert.match(
      await failureOf((runs) => [...runs.slice(0, 3), ...runs.slice(3).map(without)]),
      /no event of node b0/,
    );
    const foreign = (run: ProfiledRun): ProfiledRun => ({ ...run, kernels: [kernel('another', 5000)] });
    assert.match(await failureOf((runs) => runs.map(foreign)), /no event of node idle1\.0/);
  });

  test('and one that does match has samples', async () => {
    const [measured] = await measureWith((runs) => runs);
    assert.deepEqual(measured?.outcome.kind === 'samples' && measured.outcome.runMs, [0.005, 0.005, 0.005]);
  });
});
