import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { assertRefused } from '../rpc/support/refusal.js';
import { readTrace } from '../../src/foreign-traces/read-trace.js';
import { INHERITED_NAMES } from '../base/inherited-names.js';
import { readText } from './trace-text.js';

const node = (fields: string): string =>
  `[\n{"cat" : "Node","dur" :5,"ts" :2,"ph" : "X","name" :"a_kernel_time","args" : {"op_name" : "Relu","node_index" : "0"}},\n{"cat" : "Node","ph" : "X","name" :"a_kernel_time",${fields}}\n]`;
const chrome = (event: string): string => `{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1}, ${event}]}`;
const span = (fields: string): string =>
  `{"data":[{"traceID":"1","spans":[{"traceID":"1","operationName":"c_predict","processID":"p",${fields}}],"processes":{}}]}`;
const python = (name: string, attributes: string): string =>
  `{"name":"${name}","context":{"trace_id":"0x1"},"start_time":"2023-11-14T22:13:20Z","end_time":"2023-11-14T22:13:20.5Z","attributes":${attributes}}`;

describe('a trace that cannot be true is refused with its place', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'a kernel of negative duration',
      node('"dur" :-5,"args" : {"op_name" : "Relu","node_index" : "0"}'),
      /byte 121: dur: /,
    ],
    [
      'a kernel whose duration is text',
      node('"dur" :"5","args" : {"op_name" : "Relu","node_index" : "0"}'),
      /dur: expected/,
    ],
    ['a kernel without an operator', node('"dur" :5,"args" : {"node_index" : "0"}'), /op_name/],
    ['an event of negative duration', chrome('{"ph": "X", "ts": 1, "dur": -1, "pid": 1}'), /byte \d+: dur: /],
    ['an event without a time', chrome('{"ph": "X", "dur": 1, "pid": 1}'), /ts: expected/],
    [
      'an event that ends before it began',
      chrome('{"ph":"B","ts":5,"pid":1},{"ph":"E","ts":4,"pid":1}'),
      /dur: expected/,
    ],
    ['an event that is a number', chrome('7'), /expected an event/],
    ['a span that is a number', '{"data":[{"traceID":"1","spans":[7],"processes":{}}]}', /expected a span, found "7"/],
    ['a span of negative duration', span('"duration":-1'), /byte \d+: a duration of -0.001 ms/],
    ['a span of infinite duration', span('"duration":1e999'), /a duration of Infinity ms/],
    ['a span without a duration', span('"tags":[]'), /duration: expected a number/],
    [
      'an invalid index',
      span('"duration":1,"tags":[{"key":"layer_sequence_index","value":"first"}]').replace('c_predict', 'conv'),
      /layer_sequence_index: expected a number/,
    ],
    [
      'a span without an end',
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"1"}]}]}]}',
      /endTimeUnixNano/,
    ],
    ...['-1', '1.5', '1e3', '123456789012345678901', ''].map((start): [string, string, RegExp] => [
      `a span that starts at "${start}"`,
      `{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"${start}","endTimeUnixNano":"9"}]}]}]}`,
      /startTimeUnixNano, endTimeUnixNano: expected nanoseconds as decimal text/,
    ]),
    [
      'a span that ends before it starts',
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"2000000","endTimeUnixNano":"1000000","name":"c_predict"}]}]}]}',
      /a duration of -1 ms/,
    ],
    [
      'too many events that begin and do not end',
      `[${'{"ph":"B","ts":1,"pid":1},'.repeat(100_001)}`,
      /byte 2600001: more than 100000 events have begun and not ended/,
    ],
    [
      'an operator of PyTorch without a name',
      chrome('{"ph":"X","cat":"cpu_op","name":"","ts":1,"dur":1,"pid":1}'),
      /byte \d+: name: expected an operator/,
    ],
    ['a span of Python without an end', python('1', '{}').replace('end_time', 'end'), /byte 0: expected a span with/],
    [
      'a layer of Python with an invalid index',
      `${python('0-1__fc__Linear', '{}')}${python('fc', '{"layer_sequence_index":"first"}')}`,
      /byte 143: layer_sequence_index: expected a number/,
    ],
    ['a file of no known format', '<xml/>', /does not begin like any of the known formats/],
  ];
  for (const [what, text, message] of cases) {
    test(what, async () => {
      await assert.rejects(readText(text), (error: Error) => {
        assert.match(error.message, /^\S+trace: (byte \d+: |does not begin)/, 'the file and the place come first');
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test('an empty file', async () => {
    for (const format of ['jaeger', 'csv'] as const) {
      await assertRefused(readText('', { format }), 'usage', /: the file is empty$/);
    }
  });

  test('a span of Python that is a number', async () => {
    await assert.rejects(readText('7', { format: 'python' }), /byte 0: expected a span, found "7"/);
  });

  test('a folder, and a file that does not exist', async () => {
    await assertRefused(readTrace(tmpdir()), 'usage', /: cannot be read: found a folder$/);
    await assertRefused(readTrace('/nowhere/trace'), 'usage', /^\/nowhere\/trace: cannot be read: /);
  });

  test('tags named like properties of objects do no harm', async () => {
    const [model] = await readText(
      '{"data":[{"spans":[{"operationName":"conv","duration":5,"tags":[{"key":"__proto__","value":{"x":1}},{"key":"layer_sequence_index","value":"0"},{"key":"op_name","value":"constructor"}]}]}]}',
    );
    assert.equal(model?.layers[0]?.operator, 'constructor');
  });

  test('operators and element types named like properties of objects do no harm', async () => {
    for (const name of INHERITED_NAMES) {
      const tensors = `[{"${name}":[1,2]}]`;
      const facts = `"op_name":"${name}","node_index":"0","input_type_shape":${tensors},"output_type_shape":${tensors}`;
      const [profiled] = await readText(`[\n{"cat":"Node","name":"a_kernel_time","dur":1,"ts":1,"args":{${facts}}}\n]`);
      assert.deepEqual(profiled?.layers[0]?.inputs, [{ elementType: name, dims: [1, 2] }]);
      const args = `{"Input Dims":[[1,2]],"Input type":["${name}"],"Concrete Inputs":["${name}"]}`;
      const [called] = await readText(
        chrome(`{"ph":"X","cat":"cpu_op","name":"${name}","ts":1,"dur":1,"pid":1,"args":${args}}`),
      );
      assert.equal(called?.layers[0]?.operator, name);
      assert.deepEqual(called.layers[0].inputs, [{ elementType: name, dims: [1, 2] }]);
    }
  });

  test('modules that contain other layers do not count twice', async () => {
    const layer = (index: string): string =>
      `{"operationName":"<${index}>__n__Linear","duration":5,"tags":[]}`.replace('<', '').replace('>', '');
    const [model] = await readText(`{"data":[{"spans":[${['0', '0-1', '0-2', '1'].map(layer).join()}]}]}`);
    assert.deepEqual(
      model?.layers.map(({ index }) => index),
      ['0-1', '0-2', '1'],
    );
  });

  test('an evenly spread part of very many executions is kept, and all are counted', async () => {
    const events = Array.from(
      { length: 10_000 },
      (_, run) =>
        `{"ph":"X","ts":${run},"dur":${run},"pid":1,"name":"n","args":{"layer_sequence_index":"0","op_name":"Relu"}}`,
    );
    const [model] = await readText(`{"traceEvents":[${events.join()}]}`);
    const [layer] = model?.layers ?? [];
    assert.equal(layer?.runs, 10_000);
    assert(layer.samplesMs.length < 5000);
    const mean = layer.samplesMs.reduce((sum, ms) => sum + ms, 0) / layer.samplesMs.length;
    assert(Math.abs(mean - 5) < 0.01, String(mean));
  });
});
