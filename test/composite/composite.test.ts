import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sumOf } from '../../src/base/sum-of.js';
import { type Composite, buildComposite } from '../../src/composite/composite.js';
import { isProducible } from '../../src/composite/producers.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import { ELEMENT_TYPES, type ElementType, tensorBytes } from '../../src/onnx/model/element-type.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import type { ProfiledModel } from '../../src/predictor/predictor.js';
import type { ProfiledKernel } from '../../src/predictor/profile.js';
import { benchmarkOf, convolution, matMul } from '../agent/support/tiny-benchmarks.js';
import { graph, graphAttribute, model, node, value } from '../onnx/protos.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'disabled' } as const;

/** y = op(x) on this number of elements; the default is enough to have a producer. */
function unary(opType: string, elements = 4096, elementType: ElementType = 'float32'): Benchmark {
  const dims = [elements / 64, 64];
  const tiny = benchmarkOf({
    inputs: { x: { dims, elementType } },
    nodes: [{ opType, inputs: ['x'], outputs: ['y'] }],
    outputs: ['y'],
  });
  const parsed = parseModel(tiny.model, 'brick');
  const types = new Map([...parsed.graph.types, ['y', { elementType, dims }] as const]);
  return { ...tiny, model: encodeModelToBytes({ ...parsed, graph: { ...parsed.graph, types } }) };
}

/** The kernels that the runtime executes in the second run of a composite, in order. */
async function executedOf({ benchmark }: Composite, folder: string): Promise<readonly ProfiledKernel[]> {
  const predictor = onnxRuntimePredictor();
  let profiled: ProfiledModel | undefined;
  const profiling = {
    ...predictor,
    open: async (...[source, options]: Parameters<typeof predictor.open>) => {
      profiled = await predictor.openProfiled!(source, options, folder);
      return profiled;
    },
  };
  const opened = await openFilledModel(profiling, materialize(benchmark), OPTIONS, { temporaryFolder: folder });
  try {
    const run = opened.prepare(makeFeeds(benchmark));
    await run.execute();
    await run.execute();
    const runs = (await profiled?.profile()) ?? [];
    assert.equal(runs.length, 2);
    return runs[1]?.kernels ?? [];
  } finally {
    await opened.close();
  }
}

function nodeOf(composite: Composite, brick: number): string {
  return composite.nodesOf[brick]?.[0] ?? '';
}

describe('a composite', { timeout: 300_000 }, () => {
  test('is executed in the order of its bricks, each right after the node that writes its input', async (t) => {
    // Different shapes, so that none reads another one's output.
    const bricks = ['Relu', 'Tanh', 'Sigmoid', 'Exp'].map((opType, index) => unary(opType, 4096 * (index + 1)));
    const composite = buildComposite(bricks, 2 ** 20);
    const executed = (await executedOf(composite, await temporaryFolder(t))).map(({ name }) => name);

    const places = bricks.map((_, brick) => executed.indexOf(nodeOf(composite, brick)));
    assert.deepEqual(
      places.toSorted((a, b) => a - b),
      places,
    );
    for (const [brick, place] of places.entries()) assert.equal(executed[place - 1], `b${brick}_x.sum`);
    assert.ok(executed.indexOf('padding') < (places[0] ?? 0));
  });

  test('repeats its bricks in turns, each repeat with inputs of its own and the weights of its set', async (t) => {
    const composite = buildComposite([matMul, unary('Relu')], 0, { times: 3, weightSets: 2 });
    assert.equal(composite.times, 3);
    assert.deepEqual(
      composite.nodesOf.map((nodes) => nodes.length),
      [3, 3],
    );
    const executed = (await executedOf(composite, await temporaryFolder(t))).map(({ name }) => name);
    const [first = [], second = []] = composite.nodesOf.map((nodes) => nodes.map((node) => executed.indexOf(node)));
    const turns = first.flatMap((place, repeat) => [place, second[repeat] ?? -1]);
    assert.deepEqual(
      turns,
      turns.toSorted((a, b) => a - b),
    );
    const weights = (one: Composite): number => {
      return one.benchmark.inputs.filter(({ name }) => /^b0(s\d+)?_/.test(name)).filter(({ role }) => role === 'weight')
        .length;
    };
    assert.equal(weights(composite), 2 * weights(buildComposite([matMul], 0)));
  });

  test('has every node of every brick once, with a name of its own', async (t) => {
    const bricks = [matMul, convolution, matMul, unary('Relu')];
    const composite = buildComposite(bricks, 0);
    const names = composite.nodesOf.flat();
    assert.equal(new Set(names).size, 4);
    const executed = await executedOf(composite, await temporaryFolder(t));
    assert.deepEqual(
      composite.nodesOf.map(([name]) => executed.filter((kernel) => kernel.name === name).map(({ opType }) => opType)),
      [['MatMul'], ['Conv'], ['MatMul'], ['Relu']],
    );
  });

  test('has each of the two kernels of a HardSwish, for which the runtime has none of its own', async (t) => {
    const composite = buildComposite([unary('HardSwish')], 0);
    const executed = await executedOf(composite, await temporaryFolder(t));
    assert.deepEqual(
      composite.nodesOf[0]?.map((name) => executed.find((kernel) => kernel.name === name)?.opType),
      ['HardSigmoid', 'Mul'],
    );
  });

  test('reads as many bytes of padding as asked for, which are ordinary numbers', () => {
    const paddingOf = (bytes: number) => {
      const { inputs } = buildComposite([unary('Relu')], bytes).benchmark;
      return inputs.flatMap((input) => (input.name === 'padding' ? [input] : []));
    };
    const [padding, ...others] = paddingOf(2 ** 20);
    assert.ok(padding !== undefined && others.length === 0);
    assert.equal(tensorBytes(padding), 2 ** 20);
    assert.ok(padding.fill.low > 0.1 && padding.fill.high < 10, 'no denormal number, and none that is infinite');
    assert.deepEqual(paddingOf(1000), [], 'less than half of a row');
  });

  test('makes inputs as sums of two values, which together have the range of the input', () => {
    const { inputs } = buildComposite([unary('Relu')], 0).benchmark;
    const factors = inputs.filter(({ name }) => name.startsWith('factor')).map(({ fill }) => fill);
    const [range] = unary('Relu').inputs.map(({ fill }) => fill);
    assert.equal(factors.length, 2);
    assert.deepEqual(
      [sumOf(factors.map(({ low }) => low)), sumOf(factors.map(({ high }) => high))],
      [range?.low, range?.high],
    );
  });

  test('makes an input of as few values as its sizes allow, and equal inputs of the same ones', () => {
    const reading = (low: number): Benchmark => {
      const inputs = { x: { dims: [2, 8, 16, 4] } };
      const brick = benchmarkOf({ inputs, nodes: [{ opType: 'Relu', inputs: ['x'], outputs: ['y'] }], outputs: ['y'] });
      return { ...brick, inputs: brick.inputs.map((input) => ({ ...input, fill: { ...input.fill, low } })) };
    };
    const factorsOf = (bricks: readonly Benchmark[]) => {
      const { inputs } = buildComposite(bricks, 0).benchmark;
      return inputs.flatMap(({ name, dims }) => (name.startsWith('factor') ? [dims] : []));
    };
    const factors = [
      [2, 8, 1, 1],
      [1, 1, 16, 4],
    ];
    assert.deepEqual(factorsOf([reading(-1), reading(-1)]), factors);
    assert.deepEqual(factorsOf([reading(-1), reading(-2)]), [...factors, ...factors]);
  });

  test('has the newest operators of its bricks, and standard ones of its own', () => {
    const ofVersion = (domain: string, version: number): Benchmark => {
      const brick = unary('Gelu');
      const { graph: one, ...rest } = parseModel(brick.model, 'brick');
      const nodes = one.nodes.map((each) => ({ ...each, domain }));
      const opsets = new Map([[domain, version]]);
      return { ...brick, model: encodeModelToBytes({ ...rest, opsets, graph: { ...one, nodes } }) };
    };
    const opsetsOf = (...bricks: readonly Benchmark[]) => {
      return Object.fromEntries(parseModel(buildComposite(bricks, 0).benchmark.model, 'composite').opsets);
    };
    const [older, newer, other] = [ofVersion('', 20), ofVersion('', 21), ofVersion('com.microsoft', 1)];
    assert.deepEqual(opsetsOf(older, newer, older, other), { '': 21, 'com.microsoft': 1 });
    assert.deepEqual(opsetsOf(other), { '': 13, 'com.microsoft': 1 });
  });

  test('returns a few integers for outputs of any size', () => {
    const { graph: composed } = parseModel(buildComposite([unary('Relu', 2 ** 20)], 0).benchmark.model, 'composite');
    assert.deepEqual(composed.outputs, ['joined']);
    assert.equal(composed.types.get('joined')?.elementType, 'int64');
  });

  test('lets a brick read the output of the brick before it, where the shapes fit', () => {
    const composite = buildComposite([unary('Relu'), unary('Tanh')], 0);
    const { graph: composed } = parseModel(composite.benchmark.model, 'composite');
    const [relu, tanh] = [0, 1].map((brick) => composed.nodes.find(({ name }) => name === nodeOf(composite, brick)));
    assert.deepEqual(tanh?.inputs, relu?.outputs);
    // One producer, and one end without a reader.
    assert.equal(composed.nodes.filter(({ opType }) => opType === 'Add').length, 1);
    const shapes = composed.nodes.filter(({ name, opType }) => opType === 'Shape' && name.startsWith('shape'));
    assert.deepEqual(
      shapes.map(({ inputs }) => inputs),
      [tanh?.outputs],
    );
  });

  test('lets a quantized brick read the output of the one before it, if it takes all values of 8 bits', () => {
    const inputOf = (elementType: ElementType, fill: { readonly low: number; readonly high: number }) => {
      const brick = unary('Abs', 4096, elementType);
      const filled = { ...brick, inputs: brick.inputs.map((input) => ({ ...input, fill: { ...fill, seed: 1 } })) };
      const { nodes } = parseModel(buildComposite([filled, filled], 0).benchmark.model, 'composite').graph;
      return nodes.find(({ name }) => name === 'b1.0')?.inputs[0];
    };
    assert.equal(inputOf('uint8', { low: 0, high: 255 }), 'b0_y');
    assert.equal(inputOf('int8', { low: -127, high: 127 }), 'b0_y');
    assert.equal(inputOf('uint8', { low: 1, high: 3 }), 'b1_x');
    assert.equal(inputOf('int32', { low: 0, high: 255 }), 'b1_x');
  });

  test('makes the input of an exponential function, since outputs of another brick may be too large', () => {
    const inputOf = (opType: string): string | undefined => {
      const { benchmark } = buildComposite([unary('Relu'), unary(opType)], 0);
      const { nodes } = parseModel(benchmark.model, 'composite').graph;
      return nodes.find(({ name }) => name === 'b1.0')?.inputs[0];
    };
    assert.equal(inputOf('Tanh'), 'b0_y');
    for (const opType of ['Softmax', 'Exp', 'Sigmoid', 'Attention', 'MultiHeadAttention', 'GroupQueryAttention']) {
      assert.equal(inputOf(opType), 'b1_x', opType);
    }
  });

  test('lets no brick read what another makes of a mask or of denormal numbers', () => {
    const tanh = unary('Tanh');
    const denormal = { low: 1e-40, high: 0.5, list: [0.5, 1e-40], seed: 1 };
    const slow = { ...tanh, inputs: tanh.inputs.map((input) => ({ ...input, fill: denormal, isGiven: true })) };
    const inputAfter = (first: Benchmark): string | undefined => {
      const { nodes } = parseModel(buildComposite([first, unary('Relu')], 0).benchmark.model, 'composite').graph;
      return nodes.find(({ name }) => name === 'b1.0')?.inputs[0];
    };
    assert.deepEqual([inputAfter(tanh), inputAfter(slow)], ['b0_y', 'b1_x']);
  });

  for (const opType of ['TopK', 'MaxPool']) {
    test(`gives a ${opType} that writes places a random order of values, which no processor can predict`, () => {
      const dims = [64, 256];
      const sort = benchmarkOf({
        inputs: { x: { dims }, k: { dims: [1], elementType: 'int64' } },
        nodes: [{ opType, inputs: opType === 'TopK' ? ['x', 'k'] : ['x'], outputs: ['largest', 'places'] }],
        outputs: ['largest'],
      });
      const { inputs, model: bytes } = buildComposite([unary('Relu', 64 * 256), sort], 0).benchmark;
      const { nodes } = parseModel(bytes, 'composite').graph;
      const [read] = nodes.find(({ name }) => name === 'b1.0')?.inputs ?? [];
      const producer = nodes.find(({ outputs }) => outputs.includes(read ?? ''));
      assert.equal(producer?.opType, 'Add');
      const added = producer.inputs.map((name) => inputs.find((input) => input.name === name)?.dims);
      assert.deepEqual(added, [dims, [1, 1]]);
    });
  }

  test('makes inputs whose values the user gives, or that came from a run', () => {
    const tanh = unary('Tanh');
    const given = { ...tanh, inputs: tanh.inputs.map((input) => ({ ...input, isGiven: true })) };
    const { benchmark } = buildComposite([unary('Relu'), given], 0);
    const { nodes } = parseModel(benchmark.model, 'composite').graph;
    assert.deepEqual(nodes.find(({ name }) => name === 'b1.0')?.inputs, ['b1_x']);
    // As they are, since sums of two numbers are distributed in another way.
    assert.deepEqual(benchmark.inputs.find(({ name }) => name === 'b1_x')?.fill, given.inputs[0]?.fill);
  });

  test('goes on for many bricks, each of which reads the output of the one before', () => {
    const { benchmark } = buildComposite(Array.from({ length: 6 }, () => unary('Relu')), 0); // prettier-ignore
    const { nodes } = parseModel(benchmark.model, 'composite').graph;
    const inputs = nodes.filter(({ name }) => /^b[1-5]\.0$/.test(name)).flatMap((one) => one.inputs);
    assert.deepEqual(inputs, ['b0_y', 'b1_y', 'b2_y', 'b3_y', 'b4_y']);
  });

  test('lets a brick read an output of four bricks before, and not an older one, which has left the caches', () => {
    const inputs = { x: { dims: [64, 64] }, old: { dims: [32, 128] } };
    const outputsOf = (brick: Benchmark, dims: readonly number[]): Benchmark => {
      const parsed = parseModel(brick.model, 'brick');
      const types = new Map([
        ...parsed.graph.types,
        ...parsed.graph.outputs.map((name, at) => {
          return [name, { elementType: 'float32' as const, dims: at === 0 ? [64, 64] : dims }] as const;
        }),
      ]);
      return { ...brick, model: encodeModelToBytes({ ...parsed, graph: { ...parsed.graph, types } }) };
    };
    const nodes = [
      { opType: 'Relu', inputs: ['x'], outputs: ['y'] },
      { opType: 'Flatten', inputs: ['x'], outputs: ['z'] },
    ];
    const writer = outputsOf(benchmarkOf({ inputs: { x: inputs.x }, nodes, outputs: ['y', 'z'] }), [32, 128]);
    const readerOf = [{ opType: 'Concat', inputs: ['x', 'old'], outputs: ['y'] }];
    const reader = outputsOf(benchmarkOf({ inputs, nodes: readerOf, outputs: ['y'] }), []);
    const readAfter = (between: number) => {
      const bricks = [writer, ...Array.from({ length: between }, () => unary('Relu')), reader];
      const { nodes: composed } = parseModel(buildComposite(bricks, 0).benchmark.model, 'composite').graph;
      return composed.find(({ name }) => name === `b${between + 1}.0`)?.inputs;
    };
    assert.deepEqual(readAfter(3), ['b3_y', 'b0_z']);
    assert.deepEqual(readAfter(4), ['b4_y', 'b5_old']);
  });

  test('has idle nodes with 1 and with 4 inputs, one right after another, after another node without work', () => {
    const composite = buildComposite([unary('Relu'), unary('Tanh')], 0);
    const { nodes } = parseModel(composite.benchmark.model, 'composite').graph;
    const names = [...composite.idleNodes.values()].flat();
    const at = nodes.findIndex(({ name }) => name === 'first');
    const idle = nodes.slice(at - names.length, at);
    assert.deepEqual(
      idle.map(({ name }) => name),
      names.toReversed(),
    );
    assert.deepEqual(new Set(idle.map(({ inputs }) => inputs.length)), new Set([1, 4]));
    assert.ok(idle.every(({ inputs }) => inputs.every((input) => input === 'shape0')));
    assert.deepEqual(composite.lightNodes, new Set(['shape0', 'first', ...names]));
  });

  test('makes an index or a positive number for a brick that needs one, and uses no output of another brick for it', () => {
    const gather = benchmarkOf({
      inputs: { table: { dims: [16, 64] }, ids: { dims: [64, 64], elementType: 'int64' } },
      nodes: [{ opType: 'Gather', inputs: ['table', 'ids'], outputs: ['y'] }],
      outputs: ['y'],
    });
    const composite = buildComposite([unary('Relu'), gather], 0);
    const { graph: composed } = parseModel(composite.benchmark.model, 'composite');
    const ids = composed.nodes.find(({ name }) => name === nodeOf(composite, 1))?.inputs[1];
    assert.equal(composed.nodes.find(({ outputs }) => outputs.includes(ids ?? ''))?.opType, 'Cast');
  });

  test('has a node that writes each large input of a type that numbers can be cast to', () => {
    const fill = { low: 0, high: 1, seed: 1 };
    const input = (elementType: ElementType, dims = [32, 32]) =>
      isProducible({ name: 'x', role: 'activation', elementType, dims, fill });
    const types = Object.keys(ELEMENT_TYPES) as ElementType[];
    assert.deepEqual(
      types.filter((elementType) => input(elementType)).toSorted(),
      'bfloat16 bool float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8'.split(' '),
    );
    assert.equal(input('float32', [1023]), false);
  });

  test('gives weights of the same shape different values, so that none is read instead of another', () => {
    const { inputs } = buildComposite([matMul, matMul], 0).benchmark;
    const seeds = inputs.filter(({ role }) => role === 'weight').map(({ fill }) => fill.seed);
    assert.equal(new Set(seeds).size, seeds.length);
  });

  test('keeps names within branches apart from those outside', async (t) => {
    const branch = graph({ node: [node('Tanh', ['x'], ['t'])], output: [value('t')] });
    const bytes = model({
      node: [node('If', ['c'], ['y'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)])],
      input: [value('c', [1], 'bool'), value('x', [64, 64])],
      output: [value('y', [64, 64])],
    });
    const choice: Benchmark = {
      signature: '0'.repeat(64),
      model: bytes,
      inputs: [
        { name: 'c', role: 'activation', elementType: 'bool', dims: [1], fill: { low: 1, high: 1, seed: 1 } },
        { name: 'x', role: 'activation', elementType: 'float32', dims: [64, 64], fill: { low: -1, high: 1, seed: 2 } },
      ],
    };
    const executed = await executedOf(buildComposite([choice, choice], 0), await temporaryFolder(t));
    assert.deepEqual(
      executed.filter(({ opType }) => opType === 'If').map(({ inner }) => inner.map(({ opType }) => opType)),
      [['Tanh'], ['Tanh']],
    );
  });

  test('is the same file for the same bricks', () => {
    const [one, other] = [0, 1].map(() => buildComposite([matMul, convolution], 2 ** 20).benchmark.signature);
    assert.equal(one, other);
  });
});
