import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BrickInContext, planComposites, type PlanLimits } from '../../src/composite/plan-composites.js';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { benchmarkOf } from '../agent/support/tiny-benchmarks.js';

const MIB = 2 ** 20;

const LIMITS: PlanLimits = { memoryLimitBytes: 8192 * MIB, cacheBytes: 32 * MIB, runs: 15 };

interface Wish {
  readonly footprintMib?: number;
  readonly modelBytes?: number;
  readonly weightMib?: number;
  readonly inputMib?: number;
  readonly roughMs?: number;
  readonly opType?: string;
  readonly opset?: number;
}

/** A brick; by default cold, with a footprint of 1.5 times the cache. */
function brick({ footprintMib = 48, modelBytes = 0, weightMib = 0, roughMs = 0, ...rest }: Wish): BrickInContext {
  const { opType = 'Mul', opset = 17, inputMib = 0 } = rest;
  const [elements, given] = [weightMib, inputMib].map((mib) => Math.max(1, (mib * MIB) / 4));
  const benchmark = benchmarkOf({
    inputs: { x: { dims: [given ?? 1] }, w: { dims: [elements ?? 1], role: 'weight' } },
    nodes: [{ opType, inputs: ['x', 'w'], outputs: ['y'] }],
    outputs: ['y'],
  });
  const model = encodeModelToBytes({ ...parseModel(benchmark.model, 'brick'), opsets: new Map([['', opset]]) });
  return { benchmark: { ...benchmark, model }, context: { footprintBytes: footprintMib * MIB }, modelBytes, roughMs };
}

function groupsOf(bricks: readonly BrickInContext[], limits: Partial<PlanLimits> = {}): readonly (readonly number[])[] {
  return planComposites(bricks, { ...LIMITS, ...limits }).map((plan) => plan.bricks);
}

describe('bricks that go into one graph', () => {
  test('have the same footprint, and keep their order', () => {
    const bricks = [48, 4, 48, 4, 48].map((footprintMib) => brick({ footprintMib }));
    assert.deepEqual(groupsOf(bricks), [
      [1, 3],
      [0, 2, 4],
    ]);
  });

  test('come after those with fewer weights, whose results are stored while theirs are loaded', () => {
    const bricks = [
      brick({ footprintMib: 48, weightMib: 8 }),
      brick({ footprintMib: 4, weightMib: 1 }),
      brick({ footprintMib: 16, weightMib: 2 }),
      brick({ footprintMib: 48, weightMib: 8 }),
      brick({ footprintMib: 4, weightMib: 1 }),
    ];
    assert.deepEqual(groupsOf(bricks), [[1, 4], [2], [0, 3]]);
  });

  test('have as many weights as the memory limit allows, filled and packed', () => {
    const bricks = Array.from({ length: 4 }, () => brick({ weightMib: 100 }));
    assert.deepEqual(groupsOf(bricks), [[0, 1, 2, 3]]);
    // 256 MiB for the runtime, and twice 200 MiB.
    assert.deepEqual(groupsOf(bricks, { memoryLimitBytes: 700 * MIB }), [
      [0, 1],
      [2, 3],
    ]);
  });

  test('have the largest values in memory twice, and not those of all', () => {
    const bricks = Array.from({ length: 3 }, () => brick({ inputMib: 100 }));
    // 256 MiB for the runtime, and twice the input and the output of 100 MiB each.
    assert.deepEqual(groupsOf(bricks, { memoryLimitBytes: 700 * MIB }), [[0, 1, 2]]);
    assert.deepEqual(groupsOf(bricks, { memoryLimitBytes: 600 * MIB }), [[0], [1], [2]]);
  });

  test('may be a single brick above the limit: the measuring process refuses it', () => {
    assert.deepEqual(groupsOf([brick({ weightMib: 200 })], { memoryLimitBytes: 300 * MIB }), [[0]]);
  });

  test('do not touch more than twice their footprint where that fits into a cache', () => {
    const bricks = Array.from({ length: 6 }, () => brick({ footprintMib: 4, weightMib: 2 }));
    assert.deepEqual(
      groupsOf(bricks).map((group) => group.length),
      [3, 3],
    );
  });

  test('are of one model where a cache may still hold its data, and of any models where all are cold', () => {
    const ofModels = (footprintMib: number): readonly BrickInContext[] => {
      return [7, 9, 7].map((modelBytes) => brick({ footprintMib, modelBytes }));
    };
    assert.deepEqual(groupsOf(ofModels(4)), [[1], [0, 2]]);
    assert.deepEqual(groupsOf(ofModels(48)), [[0, 1, 2]]);
  });

  test('take about a second together, so that no weight is idle long enough to be taken out of memory', () => {
    const bricks = [600, 300, 300, 5000, 100].map((roughMs) => brick({ roughMs }));
    assert.deepEqual(groupsOf(bricks), [[3], [0, 1], [2, 4]]);
  });

  test('have no more events than a profile keeps', () => {
    const bricks = Array.from({ length: 10 }, () => brick({}));
    // At most 500,000 events, 4 for each node in each run.
    assert.deepEqual(
      groupsOf(bricks, { runs: 31_250 }).map((group) => group.length),
      [2, 4, 4],
    );
  });

  test('go together across opsets where their operators mean the same in both', () => {
    // Mul took more types with opsets 13 and 14; Softmax became another operator with 13.
    assert.deepEqual(groupsOf([brick({ opType: 'MatMul', opset: 13 }), brick({ opset: 17 })]), [[0, 1]]);
    assert.deepEqual(groupsOf([brick({ opset: 17 }), brick({ opset: 11 })]), [[0, 1]]);
    assert.deepEqual(groupsOf([brick({ opType: 'Softmax', opset: 12 }), brick({ opset: 17 })]), [[0], [1]]);
    assert.deepEqual(groupsOf([brick({ opset: 17 }), brick({ opType: 'Softmax', opset: 12 })]), [[0], [1]]);
    // ReduceMax took its axes as an input with 18.
    const afterOlder = [brick({ opset: 18 }), brick({ opset: 13 }), brick({ opType: 'ReduceMax', opset: 13 })];
    assert.deepEqual(groupsOf(afterOlder), [[2], [0, 1]]);
    const beforeNewer = [brick({ opType: 'Softmax', opset: 12 }), brick({ opset: 12 }), brick({ opset: 17 })];
    assert.deepEqual(groupsOf(beforeNewer), [[2], [0, 1]]);
  });

  test('have the same version of all other operators, whose changes are not known', () => {
    const ofVersion = (version: number): BrickInContext => {
      const one = brick({});
      const opsets = new Map([
        ['', 17],
        ['com.microsoft', version],
      ]);
      const model = encodeModelToBytes({ ...parseModel(one.benchmark.model, 'brick'), opsets });
      return { ...one, benchmark: { ...one.benchmark, model } };
    };
    assert.deepEqual(groupsOf([1, 2, 1, 2].map(ofVersion)), [
      [0, 2],
      [1, 3],
    ]);
    assert.deepEqual(groupsOf([brick({}), ofVersion(1), ofVersion(2)]), [[2], [0, 1]]);
  });

  test('read as much padding as their footprint needs', () => {
    const padding = (wish: Wish): number => (planComposites([brick(wish)], LIMITS)[0]?.paddingBytes ?? 0) / MIB;
    assert.equal(Math.round(padding({ footprintMib: 48, weightMib: 10 })), 38);
    assert.equal(padding({ footprintMib: 48, weightMib: 100 }), 0);
    const repeated = { footprintMib: 8, weightMib: 1, modelBytes: 3 * MIB, roughMs: 0.1 };
    assert.equal(Math.round(padding(repeated)), 5, 'each of three sets of weights counts');
  });

  test('are repeated where their runs are short, with other weights as far as the model has them', () => {
    const repetition = (wish: Wish): unknown => planComposites([brick(wish)], LIMITS)[0]?.repetition;
    const small = { footprintMib: 4, weightMib: 1, modelBytes: 3 * MIB };
    assert.deepEqual(repetition({ ...small, roughMs: 0.1 }), { times: 10, weightSets: 3 });
    assert.deepEqual(repetition({ ...small, modelBytes: MIB / 2, roughMs: 0.1 }), { times: 10, weightSets: 1 });
    assert.deepEqual(repetition({ ...small, roughMs: 0.5 }), { times: 2, weightSets: 2 });
    const once = { times: 1, weightSets: 1 };
    assert.deepEqual(repetition({ ...small, roughMs: 2 }), once);
    assert.deepEqual(repetition({ ...small, roughMs: 0 }), once, 'time not known');
    assert.deepEqual(repetition({ weightMib: 1, modelBytes: 100 * MIB, roughMs: 0.1 }), once, 'cold');
    const [together] = planComposites([0, 1].map(() => brick({ ...small, roughMs: 0.1 })), LIMITS); // prettier-ignore
    assert.deepEqual(together?.repetition, { times: 5, weightSets: 1 });
  });

  test('are repeated less often the more nodes they have', () => {
    const small = { footprintMib: 1, modelBytes: 1024, roughMs: 0.0001 };
    const times = [1, 4].map((bricks) => {
      const [plan] = planComposites(Array.from({ length: bricks }, () => brick(small)), LIMITS); // prettier-ignore
      return plan?.repetition.times;
    });
    assert.deepEqual(times, [600, 150]);
  });

  test('are repeated less often the larger their graphs are: a forest is one node with all its trees', () => {
    const repeats = [0, 1, 5].map((mib) => {
      const small = brick({ footprintMib: 1, modelBytes: 1024, roughMs: 0.001 });
      const parsed = parseModel(small.benchmark.model, 'brick');
      const graph = { ...parsed.graph, name: 'x'.repeat(mib * MIB) };
      const model = encodeModelToBytes({ ...parsed, graph });
      const [plan] = planComposites([{ ...small, benchmark: { ...small.benchmark, model } }], LIMITS);
      return plan?.repetition.times;
    });
    assert.deepEqual(repeats, [600, 3, 1]);
  });

  test('count only the rows of a table that are looked up, since only these pass through the caches', () => {
    const rows = (4 * MIB) / 4;
    const lookup = (index: number): BrickInContext => {
      const benchmark = benchmarkOf({
        inputs: { table: { dims: [rows, 1], role: 'weight' }, i: { dims: [1 + index], elementType: 'int64' } },
        nodes: [{ opType: 'Gather', inputs: ['table', 'i'], outputs: ['y'] }],
        outputs: ['y'],
      });
      return { ...brick({ footprintMib: 4 }), benchmark };
    };
    const [plan, ...others] = planComposites([0, 1, 2].map(lookup), LIMITS);
    assert.deepEqual([plan?.bricks, others], [[0, 1, 2], []]);
    // A row of 4 bytes for each of 1 + 2 + 3 indices, and twice the 3 indices of 8 bytes.
    assert.equal(4 * MIB - (plan?.paddingBytes ?? 0), 4 * (1 + 2 + 3) + 2 * 3 * 8);
    // In memory, a whole table counts: one fits beside the 256 MiB of the runtime.
    assert.deepEqual(groupsOf([0, 1].map(lookup), { memoryLimitBytes: 270 * MIB }), [[0], [1]]);
  });

  test('are found in a time that does not grow with the square of their number', { timeout: 60_000 }, () => {
    const pair = [48, 16].map((footprintMib) => brick({ footprintMib }));
    const groups = groupsOf(Array.from({ length: 10_000 }, () => pair).flat());
    assert.equal(groups.flat().length, 20_000);
  });
});
