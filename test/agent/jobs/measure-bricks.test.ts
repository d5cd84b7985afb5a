import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { MeasureProgress } from '../../../src/agent/benchmark-agent.js';
import { measureBricks, collectOutcomes } from '../../../src/agent/jobs/measure-bricks.js';
import { openProfiled } from '../../../src/agent/jobs/profiled-runs.js';
import { type Composite, buildComposite } from '../../../src/composite/composite.js';
import { trimmedMean } from '../../../src/measurement/trimmed-mean.js';
import type { Predictor } from '../../../src/predictor/predictor.js';
import type { ProfiledKernel, ProfiledRun } from '../../../src/predictor/profile.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { setupOf } from '../support/measure-one.js';
import { matMul, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

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

  test('have their share of what disturbs each run in one of them', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const profile = names.map((disturbed) => {
      const kernels = names.map((name) => kernel(name, name === disturbed ? 30_000 : 20_000));
      return { durationNs: 200_000, kernels };
    });
    const nodesOf = names.map((name) => [name]);
    const outcomes = collectOutcomes({ ...composite, nodesOf, times: 1 }, profile, cost);
    // A run takes 110 µs, and the trimmed means of the kernels are 20 µs each.
    for (const { runMs } of outcomes) assert.equal(trimmedMean(runMs).toFixed(6), '0.022000');
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
  function measureWith(
    profile: (runs: readonly ProfiledRun[]) => readonly ProfiledRun[],
    reports: MeasureProgress[] = [],
  ) {
    const { nodesOf, idleNodes } = buildComposite([relu], 0);
    const kernels = [...nodesOf.flat(), ...[...idleNodes.values()].flat()].map((name) => kernel(name, 5000));
    const kept = profile(Array.from({ length: 4 }, () => ({ durationNs: 20_000, kernels })));
    const predictor = fakePredictor({}, kept);
    return withTemporaryFolder((temporaryFolder) => {
      const onProgress = (report: MeasureProgress) => Promise.resolve(void reports.push(report));
      const context = fakeContext({ predictor, temporaryFolder, onProgress });
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
    const reports: MeasureProgress[] = [];
    const [measured] = await measureWith((runs) => runs, reports);
    assert.deepEqual(reports[0], { phase: 'preparing', runsDone: 0, runsTotal: 4 });
    assert.deepEqual([measured?.peakMemoryBytes, measured?.conditions?.cores], [1, 1]);
    assert.deepEqual(measured?.outcome.kind === 'samples' && measured.outcome.runMs, [0.005, 0.005, 0.005]);
  });
});

describe('the cost of bricks that are measured together', () => {
  const bricks = [relu, matMul];

  /** Opening takes 30 ms, and a run 1 ms. The runtime says that a kernel of each brick takes this long. */
  async function costsOf(kernelNs: readonly number[], failingRun = Infinity) {
    const { nodesOf, idleNodes } = buildComposite(bricks, 0);
    const idle = [...idleNodes.values()].flat().map((name) => kernel(name, 0));
    const kernels = [...nodesOf.map(([name = ''], brick) => kernel(name, kernelNs[brick] ?? 0)), ...idle];
    let nowMs = 0;
    let runs = 0;
    const execute = (): Promise<void> => {
      nowMs++;
      return runs++ === failingRun ? Promise.reject(new Error('node relu failed')) : Promise.resolve();
    };
    const profile = Array.from({ length: 4 }, () => ({ durationNs: 1e6, kernels }));
    const profiling = fakePredictor({ execute }, profile);
    const predictor: typeof profiling = {
      ...fakePredictor({}),
      openProfiled: (...given) => {
        nowMs += 30;
        return profiling.openProfiled?.(...given) ?? assert.fail();
      },
    };
    return withTemporaryFolder(async (temporaryFolder) => {
      const context = fakeContext({ predictor, temporaryFolder, nowNs: () => BigInt(nowMs * 1e6) });
      const repetition = { times: 1, weightSets: 1 };
      const setup = { runOptions, ...setupOf({ ...protocol, warmupRuns: 1, runs: 3, minRuns: 3 }) };
      return measureBricks({ kind: 'measure-bricks', bricks, paddingBytes: 0, repetition, ...setup }, context);
    });
  }

  test('is that of the session by bytes of weights, and that of the runs by their times', async () => {
    const [one, other] = await costsOf([1000, 3000]);
    assert.ok(one && other);
    // A brick without weights counts as 64 KiB more than none.
    const weightBytes = 4 * 8 * 5;
    assert.equal((other.sessionMs / one.sessionMs).toFixed(6), (1 + weightBytes / 2 ** 16).toFixed(6));
    assert.equal((one.sessionMs + other.sessionMs).toFixed(6), '30.000000');
    const [oneRuns, otherRuns] = [one, other].map(({ sessionMs, costMs }) => costMs - sessionMs);
    assert.deepEqual([oneRuns?.toFixed(6), otherRuns?.toFixed(6)], ['1.000000', '3.000000']);
  });

  test('is the same for each where their times are too short to be seen', async () => {
    const runs = (await costsOf([0, 0])).map(({ sessionMs, costMs }) => (costMs - sessionMs).toFixed(6));
    assert.deepEqual(runs, ['2.000000', '2.000000']);
  });

  test('is the same for each where a run fails', async () => {
    const costs = (await costsOf([1000, 3000], 2)).map(({ outcome, sessionMs, costMs }) => {
      return [outcome.kind === 'failure' && outcome.reason, sessionMs, costMs];
    });
    assert.deepEqual(costs, Array(2).fill(['run_failed', 15, 16.5]));
  });
});

describe('bricks that cannot be opened together', () => {
  async function measureWith(openProfiled?: Predictor['openProfiled']) {
    const predictor = { ...fakePredictor({}), ...(openProfiled !== undefined && { openProfiled }) };
    if (openProfiled === undefined) Reflect.deleteProperty(predictor, 'openProfiled');
    return withTemporaryFolder(async (temporaryFolder) => {
      const context = fakeContext({ predictor, temporaryFolder });
      const repetition = { times: 1, weightSets: 1 };
      const composite = { bricks: [relu, matMul], paddingBytes: 0, repetition };
      const job = { kind: 'measure-bricks', ...composite, runOptions, ...setupOf(protocol) } as const;
      const outcomes = (await measureBricks(job, context)).map(({ outcome }) => outcome);
      assert.deepEqual(await readdir(temporaryFolder), [], 'no folder is left');
      return outcomes;
    });
  }

  test('fail each for the reason that the runtime gives', async () => {
    const openProfiled = () => Promise.reject(new Error('no such operator'));
    const failure = { kind: 'failure', reason: 'unsupported', message: 'no such operator' };
    assert.deepEqual(await measureWith(openProfiled), [failure, failure]);
  });

  test('fail each where the runtime keeps no profile', async () => {
    const failure = { kind: 'failure', reason: 'unsupported', message: 'fake 1.0.0 keeps no profile of its kernels' };
    assert.deepEqual(await measureWith(), [failure, failure]);
  });

  test('are no failure of the bricks where the machine fails', async () => {
    const openProfiled = () => Promise.reject(new Error('No space left on device'));
    await assert.rejects(measureWith(openProfiled), { code: 'storage' });
  });
});

test('a profiled run has the memory of the first run, as far as the same kernels are at the same places', async () => {
  const runOf = (allocatedBytes: number, other: string): ProfiledRun => {
    const memory = { allocatedBytes };
    const inner = [{ ...kernel('inner', 1), memory }];
    const kernels = ['loop', other].map((name) => ({ ...kernel(name, 1, 1, inner), memory }));
    return { durationNs: 2, kernels };
  };
  const predictor = fakePredictor({}, [runOf(7, 'first'), runOf(8, 'first'), runOf(9, 'another')]);
  await withTemporaryFolder(async (temporaryFolder) => {
    const context = fakeContext({ predictor, temporaryFolder });
    const open = await openProfiled({ benchmark: relu, runOptions, memoryLimitBytes: 2 ** 30 }, context);
    const { profile } = await open.run({ ...setupOf(protocol).protocol, warmupRuns: 1, runs: 2, minRuns: 2 });
    await open.close();
    const memoryOf = (one: ProfiledKernel | undefined) => one?.memory?.allocatedBytes;
    assert.deepEqual(
      profile.map(({ kernels }) => kernels.map((one) => [one.name, memoryOf(one), memoryOf(one.inner[0])])),
      [
        [
          ['loop', 7, 7],
          ['first', 7, 7],
        ],
        [
          ['loop', 7, 7],
          ['another', undefined, undefined],
        ],
      ],
    );
  });
});
