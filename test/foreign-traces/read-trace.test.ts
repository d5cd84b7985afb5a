import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readTrace } from '../../src/foreign-traces/read-trace.js';
import { readText } from './trace-text.js';

/** Traces; README.md in this folder names the program that made each. */
const FIXTURES = join(import.meta.dirname, '../../../test/foreign-traces/fixtures');

const operatorsOf = (layers: readonly { readonly operator: string }[]): string[] =>
  layers.map(({ operator }) => operator);

describe('traces of real producers', () => {
  for (const file of ['jaeger.json', 'otlp.json']) {
    test(`${file}: a model's layers, its system, and its time with and without layer tracing`, async () => {
      const [model, ...others] = await readTrace(join(FIXTURES, file));
      assert(model !== undefined);
      assert.deepEqual(others, []);
      assert.equal(model.model, 'tiny');
      assert.equal(model.system, 'node-1, AMD EPYC');
      assert.deepEqual(operatorsOf(model.layers), ['Conv', 'Relu', 'Conv', 'Relu', 'GlobalAveragePool']);
      const [first] = model.layers;
      assert.deepEqual(first?.outputs, [{ elementType: undefined, dims: [1, 8, 32, 32] }]);
      // The programs that made the fixtures give run r of this layer 400 + r microseconds.
      assert.deepEqual(first.samplesMs, [0.4, 0.401, 0.402, 0.403, 0.404]);
      assert.deepEqual(model.wholeMs, [0.962, 0.967, 0.972, 0.977, 0.982]);
      assert.deepEqual(model.tracedWholeMs, [1.062, 1.067, 1.072, 1.077, 1.082]);
    });
  }

  test('a profile of ONNX Runtime: kernels of the optimized graph, with all inputs and three runs', async () => {
    const [model] = await readTrace(join(FIXTURES, 'onnxruntime.json'));
    assert(model !== undefined);
    assert.equal(model.tracedWholeMs.length, 3);
    assert.deepEqual(operatorsOf(model.layers).toSorted(), [
      'Conv',
      'Conv',
      'Conv',
      'GlobalAveragePool',
      'ReorderInput',
      'ReorderOutput',
    ]);
    assert(model.layers.every(({ runs }) => runs === 3));
    const conv = model.layers.find(({ operator }) => operator === 'Conv');
    assert.deepEqual(conv?.inputs, [
      { elementType: 'float32', dims: [1, 16, 56, 56] },
      { elementType: 'float32', dims: [16, 16, 3, 3] },
    ]);
  });

  test("spans that the platform's Python agents save: layers of modules, and no warm-up", async () => {
    const [model, ...others] = await readTrace(join(FIXTURES, 'python.json'));
    assert(model !== undefined);
    assert.deepEqual(others, []);
    assert.equal(model.model, 'tiny_net');
    assert.equal(model.system, 'AMD EPYC, pytorch');
    assert.deepEqual(
      model.layers.map(({ index, name, operator, inputs }) => [index, name, operator, inputs?.map(({ dims }) => dims)]),
      [
        ['0-0', 'conv1', 'Conv2d', [[1, 3, 32, 32]]],
        ['0-1', 'relu', 'ReLU', [[1, 8, 32, 32]]],
      ],
    );
    // The program that made the fixture gives run r of the first layer 400 + r microseconds; a warm-up takes 5 ms.
    assert.deepEqual(model.layers[0]?.samplesMs, [0.4, 0.401, 0.402]);
    assert.deepEqual(model.tracedWholeMs, [0.445, 0.447, 0.449]);
    assert.deepEqual([model.wholeMs, model.traceIds.length], [[], 1]);
  });

  test('spans of Python agents from one second to the next', async () => {
    const text = await readFile(join(FIXTURES, 'python.json'), 'utf8');
    // The first run of the first layer begins 200 microseconds before a second, and ends 200 after it.
    const later = text.replaceAll(/(:\d\d)\.(\d{6})Z/g, (_, second: string, micros: string) => {
      const at = Number(second.slice(1)) * 1e6 + Number(micros) + 988_235;
      return `:${Math.floor(at / 1e6)}.${String(at % 1e6).padStart(6, '0')}Z`;
    });
    assert.match(later, /:20\.999800Z/);
    const [[model], [moved]] = await Promise.all([readText(text), readText(later)]);
    assert.deepEqual(moved?.layers, model?.layers);
  });

  test('a trace of PyTorch: the operators that the model called, and not those that operators called', async () => {
    const [model] = await readTrace(join(FIXTURES, 'pytorch.json'), { model: 'tiny' });
    assert(model !== undefined);
    assert.equal(model.tracedWholeMs.length, 3);
    const operators = operatorsOf(model.layers);
    assert(operators.includes('aten::conv2d'));
    assert(!operators.includes('aten::convolution'));
    // conv, batch norm, relu, pool, conv, relu, flatten, linear; each the same in every run.
    const layers = model.layers.filter(({ operator }) =>
      /conv2d|batch_norm|relu|max_pool2d|flatten|linear/.test(operator),
    );
    assert.equal(layers.length, 8);
    assert(layers.every(({ runs }) => runs === 3));
    assert.deepEqual(layers[0]?.inputs?.[1], { elementType: 'float32', dims: [8, 3, 3, 3] });
  });
});

describe("layers of the platform's agents", () => {
  /** A trace of one layer, as Jaeger's query service gives it. */
  async function layerOf(operationName: string, tags: Readonly<Record<string, string>>) {
    const all = { trace_level: 'FRAMEWORK_TRACE', layer_sequence_index: '0', ...tags };
    const listed = Object.entries(all).map(([key, value]) => ({ key, type: 'string', value }));
    const span = { traceID: 'a', spanID: 'b', operationName, startTime: 1, duration: 5, tags: listed, processID: 'p' };
    const text = JSON.stringify({ data: [{ traceID: 'a', spans: [span], processes: {} }] });
    const [model] = await readText(text, { model: 'tiny' });
    return model?.layers[0];
  }

  test('without op_name take the operator from their name, without scopes and numbers', async () => {
    const operators = { conv2d: 'conv2d', conv2d_12: 'conv2d', 'resnet/block_3/conv2d_12': 'conv2d', _12: '_12' };
    for (const [name, operator] of Object.entries(operators)) {
      assert.equal((await layerOf(name, { shape: '[1,8]' }))?.operator, operator);
    }
    assert.equal((await layerOf('conv2d_12', { op_name: 'Convolution' }))?.operator, 'Convolution');
  });

  test('may have a level that the platform does not know', async () => {
    assert.equal((await layerOf('conv', { trace_level: 'MODULE' }))?.operator, 'conv');
    assert.equal(await layerOf('conv', { trace_level: 'system_library_trace' }), undefined);
  });

  test('of measured bricks do not count as runs of a model', async () => {
    const tags = [{ key: 'evaluation_trace_level', type: 'string', value: 'MODEL_TRACE' }];
    const run = { traceID: 'a', operationName: 'c_predict', startTime: 1, processID: 'p' };
    const spans = [
      { ...run, spanID: 'b', duration: 5, tags },
      { ...run, spanID: 'c', duration: 7, tags: [...tags, { key: 'bricks', type: 'int64', value: 12 }] },
    ];
    const text = JSON.stringify({ data: [{ traceID: 'a', spans, processes: {} }] });
    const [model] = await readText(text, { model: 'tiny' });
    assert.deepEqual(model?.wholeMs, [0.005]);
  });

  test('have attributes only if they are an object, and predecessors only if they are indices', async () => {
    const layer = await layerOf('conv', { attributes: '["stride", 2]', after: '[0, -1, 1e300, 2]' });
    assert.equal(layer?.attributes, undefined);
    assert.deepEqual(layer?.after, [0, 2]);
    assert.deepEqual((await layerOf('conv', { attributes: '{"stride": 2}' }))?.attributes, { stride: 2 });
  });

  test('have operations and bytes as numbers or as texts of numbers', async () => {
    const layer = await layerOf('conv', { operations: '2048', bytes: 'many' });
    assert.deepEqual([layer?.operations, layer?.bytes], [2048, undefined]);
  });

  test('have the system that the tags of their process describe, and the level of their run', async () => {
    const tagsOf = (tags: Readonly<Record<string, string | number>>) => {
      return Object.entries(tags).map(([key, value]) => ({ key, type: 'string', value }));
    };
    const runWith = async (
      process: Readonly<Record<string, string | number>>,
      tags: Record<string, string | number>,
    ) => {
      const run = { traceID: 'AB1', spanID: 'b', operationName: 'c_predict', startTime: 1, duration: 5 };
      const spans = [{ ...run, processID: 'p', tags: tagsOf(tags) }];
      const data = [{ traceID: 'AB1', spans, processes: { p: { tags: tagsOf(process) } } }];
      return (await readText(JSON.stringify({ data }), { model: 'tiny' }))[0];
    };
    const names = { framework_version: 1.2, 'cpu.model': 'c', hostname: 'h', framework_name: 'f', other: 'o' };
    assert.equal((await runWith(names, {}))?.system, 'h, c, f, 1.2');
    assert.equal((await runWith({ ...names, 'host.name': 'first' }, {}))?.system, 'first, c, f, 1.2');
    assert.equal((await runWith({ ...names, system: 'whole' }, {}))?.system, 'whole');
    assert.equal((await runWith({ other: 'o' }, {}))?.system, undefined);
    const isTraced = async (tags: Record<string, string | number>) => {
      const model = await runWith(names, tags);
      assert.deepEqual(model?.traceIds, [`${'0'.repeat(29)}ab1`]);
      return model.tracedWholeMs.length === 1 && model.wholeMs.length === 0;
    };
    const levels = ['MODEL_TRACE', 'framework_trace', 'SYSTEM_LIBRARY_TRACE', 2, '3', 4, 'unknown'];
    const traced = await Promise.all(levels.map((level) => isTraced({ evaluation_trace_level: level })));
    assert.deepEqual(traced, [false, true, true, false, true, true, true]);
    assert.equal(await isTraced({}), true, 'without a level');
  });

  test('have the ids of their traces, unless there are more than a thousand, or a trace without one', async () => {
    const idsOf = async (ids: readonly unknown[]) => {
      const run = { operationName: 'c_predict', startTime: 1, duration: 5, processID: 'p', tags: [] };
      const layer = { ...run, operationName: 'fc', tags: [{ key: 'layer_sequence_index', value: '0' }] };
      const data = ids.map((traceID) => ({ spans: [run, layer].map((one) => ({ ...one, traceID })), processes: {} }));
      return (await readText(JSON.stringify({ data }), { model: 'tiny' }))[0]?.traceIds.length;
    };
    const ids = Array.from({ length: 1001 }, (_, at) => at.toString(16));
    assert.deepEqual([await idsOf(ids.slice(1)), await idsOf(ids)], [1000, 0]);
    assert.deepEqual([await idsOf(['a', 'b', 'a']), await idsOf(['a', 'x'])], [2, 0]);
    assert.deepEqual([await idsOf(['a'.repeat(32)]), await idsOf(['a'.repeat(33)]), await idsOf([7])], [1, 0, 0]);
  });

  test("have shapes in PyTorch's notation", async () => {
    const shapes = { input_shape: 'torch.Size([1, 3, 224, 224])', output_shape: 'torch.Size([])' };
    const layer = await layerOf('0-1__conv1__Conv2d', shapes);
    assert.deepEqual(
      [layer?.inputs, layer?.outputs].map((tensors) => tensors?.map(({ dims }) => dims)),
      [[[1, 3, 224, 224]], [[]]],
    );
    const several = await layerOf('conv', { input_shape: '(torch.Size([1, 3]), torch.Size([8, 3]))' });
    assert.deepEqual(
      several?.inputs?.map(({ dims }) => dims),
      [
        [1, 3],
        [8, 3],
      ],
    );
    assert.equal((await layerOf('conv', { input_shape: 'None' }))?.inputs, undefined);
  });
});

test('spans of OpenTelemetry have tags of all its types', async () => {
  const tag = (key: string, value: object) => ({ key, value });
  const attributes = [
    tag('layer_sequence_index', { intValue: '3' }),
    tag('op_name', { stringValue: 'Gemm' }),
    tag('operations', { doubleValue: 64.5 }),
    tag('bytes', { intValue: 32 }),
    tag('input_shapes', {
      arrayValue: { values: [{ arrayValue: { values: [{ intValue: '1' }, { intValue: '8' }] } }, { arrayValue: {} }] },
    }),
    tag('input_types', { stringValue: 'float32;' }),
    tag('output_shape', { stringValue: '1x4' }),
    tag('output_types', { stringValue: 'float16;float32' }),
    tag('element_type', { stringValue: 'int8' }),
    tag('signature', { boolValue: true }),
    tag('after', { arrayValue: { values: [{ intValue: '0' }, { intValue: 2 }] } }),
  ];
  const times = { startTimeUnixNano: '1000', endTimeUnixNano: 6000 };
  const scopeSpans = [{ spans: [{ traceId: 'a', name: 'fc', ...times, attributes }] }];
  const [model] = await readText(JSON.stringify({ resourceSpans: [{ scopeSpans }] }), { model: 'tiny' });
  const [layer, ...others] = model?.layers ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual([layer?.index, layer?.operator, layer?.samplesMs], ['3', 'Gemm', [0.005]]);
  assert.deepEqual([layer?.operations, layer?.bytes, layer?.signature, layer?.after], [64.5, 32, undefined, [0, 2]]);
  assert.deepEqual(layer?.inputs, [
    { elementType: 'float32', dims: [1, 8] },
    { elementType: undefined, dims: [] },
  ]);
  assert.deepEqual(layer.outputs, [{ elementType: 'int8', dims: [1, 4] }], 'two types do not fit to one output');
});

test('a model and a system that tags of spans name are those of the trace', async () => {
  const tagsOf = (tags: Readonly<Record<string, string>>) => {
    return Object.entries(tags).map(([key, value]) => ({ key, type: 'string', value }));
  };
  const span = { traceID: 'a', startTime: 1, duration: 5, processID: 'p' };
  const spans = [
    { ...span, operationName: 'fc', tags: tagsOf({ layer_sequence_index: '0' }) },
    { ...span, operationName: 'evaluate', tags: tagsOf({ model_name: 'net', system: 'node-2' }) },
  ];
  const [model] = await readText(JSON.stringify({ data: [{ traceID: 'a', spans, processes: {} }] }));
  assert.deepEqual([model?.model, model?.system, model?.layers.length], ['net', 'node-2', 1]);

  const python = (name: string, attributes: object) =>
    JSON.stringify({ name, context: { trace_id: '0xa' }, start_time: at(1), end_time: at(2), attributes });
  const at = (second: number) => `2023-11-14T22:13:0${second}Z`;
  const [named] = await readText(
    python('0__fc__Linear', {}) + python('evaluate', { model_name: 'net', trace_level: 'MODEL_TRACE' }),
  );
  assert.deepEqual([named?.model, named?.layers.length, named?.wholeMs], ['net', 1, []]);
});

describe('a trace of events with a begin and an end', () => {
  test('has layers inside of others, with the arguments of both', async () => {
    const begin = (ts: number, args: object) => ({ ph: 'B', pid: 1, tid: 1, name: 'layer', ts, args });
    const end = (ts: number, args: object) => ({ ph: 'E', pid: 1, tid: 1, ts, args });
    const events = [
      begin(1, { layer_sequence_index: '0', op_name: 'If' }),
      begin(2, { layer_sequence_index: '1', op_name: 'to be replaced' }),
      { ...begin(3, { layer_sequence_index: '2', op_name: 'Relu' }), tid: 2 },
      end(4, { op_name: 'Gemm', bytes: 12 }),
      { ...end(10, {}), tid: 2 },
      end(9, {}),
    ];
    const [model] = await readText(JSON.stringify(events), { model: 'tiny' });
    assert.deepEqual(
      model?.layers.map(({ index, operator, bytes, samplesMs }) => [index, operator, bytes, samplesMs]),
      [
        ['0', 'If', undefined, [0.008]],
        ['1', 'Gemm', 12, [0.002]],
        ['2', 'Relu', undefined, [0.007]],
      ],
    );
  });
});

describe('a trace of PyTorch', () => {
  const call = (name: string, ts: number, dur: number) => ({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts, dur });
  const range = (ts: number, dur: number) => ({ ...call('run', ts, dur), cat: 'user_annotation' });
  const read = async (events: readonly object[]) =>
    (await readText(JSON.stringify({ traceEvents: events }), { model: 'tiny' }))[0];

  test('has a run for each outermost range, and no layers beside them', async () => {
    const model = await read([
      range(0, 100),
      range(10, 20),
      call('aten::relu', 12, 5),
      call('aten::relu', 40, 7),
      call('aten::copy_', 150, 9),
      range(200, 90),
      call('aten::relu', 210, 6),
      call('aten::relu', 240, 8),
    ]);
    assert.deepEqual(model?.tracedWholeMs, [0.1, 0.09]);
    assert.deepEqual(
      model.layers.map(({ operator, samplesMs }) => [operator, samplesMs]),
      [
        ['aten::relu', [0.005, 0.006]],
        ['aten::relu', [0.007, 0.008]],
      ],
    );
  });

  test('may lack its end, as the profiler leaves it where the program crashed', async () => {
    const events = [range(0, 100), call('aten::relu', 12, 5)].map((event) => `${JSON.stringify(event)},\n`);
    const [model] = await readText(`[${events.join('')}`, { model: 'tiny' });
    assert.deepEqual(operatorsOf(model?.layers ?? []), ['aten::relu']);
  });

  test('may name its model and its systems after their layers', async () => {
    const tags = (pid: number, args: object) => ({
      ph: 'X',
      pid,
      tid: 1,
      ts: 1,
      dur: 5,
      args: { trace_id: 'a', ...args },
    });
    const layer = (pid: number, index: number) => tags(pid, { layer_sequence_index: String(index), op_name: 'Relu' });
    const named = (pid: number, system: string) => ({ ph: 'M', name: 'process_name', pid, args: { system } });
    const events = [
      layer(1, 0),
      layer(2, 1),
      layer(2, 2),
      named(1, 'first'),
      tags(1, { model_name: 'tiny' }),
      named(2, 'second'),
    ];
    const models = await readText(JSON.stringify({ traceEvents: events }));
    assert.deepEqual(
      models.map(({ model, system, layers }) => [model, system, layers.map(({ index }) => index)]),
      [
        ['tiny', 'first', ['0']],
        ['tiny', 'second', ['1', '2']],
      ],
    );
  });

  test('may begin after an event began', async () => {
    const model = await read([{ ...call('aten::add', 1, 0), ph: 'E' }, range(2, 20), call('aten::relu', 5, 3)]);
    assert.deepEqual(operatorsOf(model?.layers ?? []), ['aten::relu']);
  });
});
