import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import type { TensorType } from '../../../src/onnx/model/model.js';
import { inferTypes } from '../../../src/agent/jobs/infer-types.js';
import type { InferredValue } from '../../../src/onnx/layers/layer-graph.js';
import type { TensorValue } from '../../../src/predictor/tensor-value.js';
import { int, ints } from '../../onnx/protos.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { agentForSuite } from '../support/running-agent.js';
import {
  benchmarkOf,
  convolution,
  failingReshape,
  int64Constant,
  relu,
  unknownOperator,
} from '../support/tiny-benchmarks.js';

describe('inferring types', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('shapes that depend on data are the shapes of a real run', async () => {
    const graph = benchmarkOf({
      inputs: { x: { dims: [2, 6] } },
      nodes: [
        { opType: 'Relu', inputs: ['x'], outputs: ['positive'] },
        { opType: 'NonZero', inputs: ['positive'], outputs: ['where'] },
        { opType: 'Transpose', inputs: ['where'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const values = await agent().client.inferTypes(graph);
    const where = values.get('where');
    const y = values.get('y');

    assert.ok(where !== undefined && y !== undefined);
    assert.equal(where.elementType, 'int64');
    assert.deepEqual([...y.dims], [...where.dims].reverse());
  });

  test('values that steer have their content at any size if it is asked for: inputs, weights and others', async () => {
    const graph = benchmarkOf({
      inputs: { x: { dims: [60, 50] }, w: { dims: [60, 50], role: 'weight' } },
      nodes: [
        { opType: 'Add', inputs: ['x', 'w'], outputs: ['sum'] },
        { opType: 'NonZero', inputs: ['sum'], outputs: ['at'] },
        { opType: 'NonZero', inputs: ['x'], outputs: ['of_input'] },
        { opType: 'NonZero', inputs: ['w'], outputs: ['of_weight'] },
        { opType: 'Relu', inputs: ['sum'], outputs: ['y'] },
      ],
      outputs: ['at', 'of_input', 'of_weight', 'y'],
    });
    const values = await agent().client.inferTypes(graph, undefined, { steeringValues: true });
    for (const name of ['sum', 'x', 'w']) assert.equal(values.get(name)?.content?.length, 60 * 50 * 4, name);
    assert.equal(values.get('y')?.content, undefined);
    assert.equal((await agent().client.inferTypes(graph)).get('sum')?.content, undefined);
  });

  test('a large integer value has its range instead of its content', async () => {
    const graph = benchmarkOf({
      inputs: { x: { dims: [1] } },
      nodes: [{ opType: 'Range', inputs: ['start', 'end', 'step'], outputs: ['y'] }],
      outputs: ['y'],
      constants: {
        start: int64Constant([], [-7]),
        end: int64Constant([], [4993]),
        step: int64Constant([], [1]),
      },
    });
    const values = await agent().client.inferTypes(graph);
    assert.deepEqual(values.get('y'), { elementType: 'int64', dims: [5000], minimum: -7n, maximum: 4992n });
  });

  test('the largest values with their content have 1,024 integers or 16 other elements', async () => {
    const sized = (count: number, elementType: 'int64' | 'float32') => ({ dims: [count], elementType });
    const graph = benchmarkOf({
      inputs: {
        integers: sized(1024, 'int64'),
        more_integers: sized(1025, 'int64'),
        numbers: sized(16, 'float32'),
        more_numbers: sized(17, 'float32'),
      },
      // The number of places depends on values, so the graph runs.
      nodes: [
        ...['integers', 'more_integers', 'numbers', 'more_numbers'].map((name) => {
          return { opType: 'Neg', inputs: [name], outputs: [`y_${name}`] };
        }),
        { opType: 'NonZero', inputs: ['numbers'], outputs: ['at'] },
      ],
      outputs: ['y_integers', 'y_more_integers', 'y_numbers', 'y_more_numbers', 'at'],
    });
    const values = await agent().client.inferTypes(graph);
    const bytesOf = (name: string): number | undefined => values.get(name)?.content?.length;
    assert.deepEqual(['y_integers', 'y_more_integers', 'y_numbers', 'y_more_numbers'].map(bytesOf), [
      1024 * 8,
      undefined,
      16 * 4,
      undefined,
    ]);
  });

  test('values that fusion removes in a measurement have types', async () => {
    const graph = benchmarkOf({
      inputs: { x: { dims: [1, 4, 5, 5] }, w: { dims: [6, 4, 3, 3], role: 'weight' } },
      nodes: [
        { opType: 'Conv', inputs: ['x', 'w'], outputs: ['convolved'] },
        { opType: 'Relu', inputs: ['convolved'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const values = await agent().client.inferTypes(graph);
    assert.deepEqual(values.get('convolved'), { elementType: 'float32', dims: [1, 6, 3, 3] });
  });

  test('a sequence is left out, the tensors around it are not', async () => {
    const graph = benchmarkOf({
      inputs: { x: { dims: [4] } },
      nodes: [
        { opType: 'SequenceConstruct', inputs: ['x', 'x'], outputs: ['sequence'] },
        { opType: 'SequenceLength', inputs: ['sequence'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const values = await agent().client.inferTypes(graph);
    assert.deepEqual([...values.keys()], ['y']);
  });

  test('a value of unknown rank is not taken as a scalar, and a scalar is', async () => {
    const pooled = { dims: [1, 2, 3, 3] } as const;
    const graph = benchmarkOf({
      inputs: { x: pooled, at: { ...pooled, elementType: 'int64' } },
      // The runtime reads this constant only when it runs the graph.
      constants: { size: int64Constant([4], [1, 2, 6, 6]) },
      nodes: [
        {
          opType: 'MaxUnpool',
          inputs: ['x', 'at', 'size'],
          outputs: ['wide'],
          attributes: [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])],
        },
        { opType: 'ReduceMax', inputs: ['x'], outputs: ['most'], attributes: [int('keepdims', 0)] },
        { opType: 'Add', inputs: ['wide', 'most'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const values = await agent().client.inferTypes(graph);
    assert.deepEqual(
      ['wide', 'most', 'y'].map((name) => values.get(name)?.dims),
      [[1, 2, 6, 6], [], [1, 2, 6, 6]],
    );
  });

  test('a graph that the runtime refuses is unsupported', async () => {
    await assertRefused(agent().client.inferTypes(unknownOperator), 'unsupported', /NoSuchOperator/);
  });

  test('a node that fails is named', async () => {
    await assertRefused(agent().client.inferTypes(failingReshape), 'model', /the_reshape/);
  });

  test('after a failure the next graph is inferred', async () => {
    await assert.rejects(agent().client.inferTypes(failingReshape));
    assert.deepEqual((await agent().client.inferTypes(convolution)).get('y')?.dims, [1, 6, 7, 7]);
  });

  test('a cancelled request is cancelled', async () => {
    await assertRefused(agent().client.inferTypes(convolution, AbortSignal.abort()), 'cancelled');
  });
});

test('a large value of integers has its range wherever its ends are, other large values have their types only', async () => {
  const int64 = (values: readonly number[]) => new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  const large = [...Array<number>(1000).fill(5), -3, 9, ...Array<number>(1000).fill(5)];
  const dims = [large.length];
  const values: readonly (readonly [string, TensorValue, Omit<InferredValue, 'elementType' | 'dims'>])[] = [
    ['range', { elementType: 'int64', dims, bytes: int64(large) }, { minimum: -3n, maximum: 9n }],
    ['bytes', { elementType: 'uint8', dims, bytes: new Uint8Array(2002).fill(7) }, { minimum: 7n, maximum: 7n }],
    ['flags', { elementType: 'bool', dims, bytes: new Uint8Array(2002) }, {}],
    ['packed', { elementType: 'uint4', dims, bytes: new Uint8Array(1001) }, {}],
    ['floats', { elementType: 'float32', dims: [17], bytes: new Uint8Array(68) }, {}],
    ['few', { elementType: 'float32', dims: [1], bytes: new Uint8Array(4) }, { content: new Uint8Array(4) }],
    ['text', { elementType: 'string', dims: [1], bytes: new Uint8Array() }, {}],
  ];
  const evaluate = () => Promise.resolve(new Map(values.map(([name, value]) => [name, value])));
  const shape = { elementType: 'int64', dims: [2], bytes: int64([3, 4]) } as const;
  const withShape = async () => new Map([...(await evaluate()), ['dlbricks.shape.int4.hidden', shape]]);
  const context = fakeContext({ predictor: fakePredictor({ evaluate: withShape }) });
  const found = await inferTypes({ benchmark: relu, memoryLimitBytes: 1e9 }, context);
  const expected = values.map(([name, { elementType, dims: sizes }, rest]) => {
    return [name, { elementType, dims: sizes, ...rest }] as const;
  });
  assert.deepEqual(found, new Map([...expected, ['hidden', { elementType: 'int4', dims: [3, 4] }]]));
});

test('values that steer have their content up to 32 MiB together', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const benchmark = benchmarkOf({
    inputs: { x: { dims: [2, 3] } },
    nodes: names.flatMap((name) => [
      { opType: 'Relu', inputs: ['x'], outputs: [name] },
      { opType: 'NonZero', inputs: [name], outputs: [`at_${name}`] },
    ]),
    outputs: names.map((name) => `at_${name}`),
  });
  const sizes = [8, 8, 8, 7.5, 1, 0.5];
  const found = names.map((name, index) => {
    const count = (sizes[index] ?? 0) * 2 ** 17;
    const value: TensorValue = { elementType: 'float64', dims: [count], bytes: new Uint8Array(count * 8) };
    return [name, value] as const;
  });
  const context = fakeContext({ predictor: fakePredictor({ evaluate: () => Promise.resolve(new Map(found)) }) });
  const values = await inferTypes({ benchmark, memoryLimitBytes: 1e9, steeringValues: true }, context);
  assert.deepEqual(
    names.map((name) => (values.get(name)?.content?.length ?? 0) / 2 ** 20),
    [8, 8, 8, 7.5, 0, 0.5],
  );
});

describe('types that a runtime infers without a run', () => {
  const type = (dims: readonly number[]): TensorType => ({ elementType: 'float32', dims });
  const chain = benchmarkOf({
    inputs: { x: { dims: [2, 3] } },
    nodes: [
      { opType: 'Relu', inputs: ['x'], outputs: ['between'] },
      { opType: 'Neg', inputs: ['between'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });

  /** The values with types, and whether the graph ran. @param answers of the runtime, in their order */
  async function inferFrom(benchmark: Benchmark, ...answers: readonly (Record<string, TensorType> | Error)[]) {
    let asked = 0;
    const inferStaticTypes = (): Promise<ReadonlyMap<string, TensorType>> => {
      const answer = answers[asked++];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(new Map(Object.entries(answer ?? {})));
    };
    const ofRun: TensorValue = { ...type([17]), bytes: new Uint8Array(17 * 4) };
    const fake = fakePredictor({ evaluate: () => Promise.resolve(new Map([['ran', ofRun]])) });
    const context = fakeContext({ predictor: { ...fake, inferStaticTypes } });
    const found = await inferTypes({ benchmark, memoryLimitBytes: 1e9 }, context);
    return { found: Object.fromEntries(found), isRun: found.has('ran'), asked };
  }

  test('are taken where they are those of all values', async () => {
    const all = { between: type([2, 3]), y: type([2, 3]) };
    assert.deepEqual(await inferFrom(chain, all), { found: all, isRun: false, asked: 1 });
  });

  test('are not enough where one is missing or the runtime refuses the graph', async () => {
    assert.equal((await inferFrom(chain, { y: type([2, 3]) })).isRun, true);
    assert.equal((await inferFrom(chain, new Error('no such operator'))).isRun, true);
  });

  test('are those of scalars only where their shape has no elements', async () => {
    const all = { between: type([2, 3]), y: type([]) };
    const shapeOf = (rank: number) => ({ 'dlbricks.shape.float32.y': { elementType: 'int64', dims: [rank] } as const });
    assert.deepEqual(await inferFrom(chain, all, shapeOf(0)), { found: all, isRun: false, asked: 2 });
    assert.equal((await inferFrom(chain, all, shapeOf(2))).isRun, true);
  });

  test('are not asked for where the content of a value may matter', async () => {
    const shape = benchmarkOf({
      inputs: { x: { dims: [2, 3] } },
      nodes: [{ opType: 'Shape', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    });
    const { isRun, asked } = await inferFrom(shape, { y: { elementType: 'int64', dims: [2] } });
    assert.deepEqual([isRun, asked], [true, 0]);
  });
});
