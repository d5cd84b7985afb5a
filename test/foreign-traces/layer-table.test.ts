import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forEachLine } from '../../src/foreign-traces/table-lines.js';
import { readText } from './trace-text.js';

const CSV = `model,index,op,attributes,input_shapes,output_shapes,duration_us,runs
net,0,Conv,"{""strides"":[2,2]}",1x3x8x8;4x3x3x3,1x4x4x4,120.5,50
net,1,Relu,,1x4x4x4,1x4x4x4,10,50
net,,,,,,140,50
`;

const LINES = `{"model":"net","index":0,"op":"Conv","attributes":{"strides":[2,2]},"input_shapes":[[1,3,8,8],[4,3,3,3]],"output_shapes":"1x4x4x4","duration_us":120.5,"runs":50}
{"model":"net","index":1,"op":"Relu","input_shapes":[[1,4,4,4]],"output_shapes":[[1,4,4,4]],"duration_ms":0.01}

{"model":"net","durations_us":[140]}
`;

describe('a layer table', () => {
  test('gives the same layers from CSV and from JSON lines', async () => {
    const [csv] = await readText(CSV);
    const [lines] = await readText(LINES);
    assert.equal(csv?.layers.length, 2);
    const [conv, relu] = csv.layers;
    assert.deepEqual(conv?.attributes, { strides: [2, 2] });
    assert.deepEqual(
      conv.inputs?.map(({ dims }) => dims),
      [
        [1, 3, 8, 8],
        [4, 3, 3, 3],
      ],
    );
    assert.equal(conv.name, '');
    assert.deepEqual(conv.samplesMs, [0.1205]);
    assert.equal(relu?.attributes, undefined);
    assert.deepEqual(csv.wholeMs, [0.14]);
    assert.deepEqual(lines?.layers, csv.layers);
    assert.deepEqual(lines.wholeMs, csv.wholeMs);
  });

  test('gives all that a row says about its layer or its sequence', async () => {
    const csv = `model,index,last,granularity,name,op,signature,element_type,input_shapes,operations,bytes,after
net,3,5,4,fc,Gemm,abc,float16,1x8,64,32,1;2
`;
    const lines =
      '{"model":"net","index":3,"last":5,"granularity":4,"name":"fc","op":"Gemm","signature":"abc","element_type":"float16","input_shapes":"1x8","operations":64,"bytes":32,"after":[1,2]}\n';
    for (const text of [csv, lines]) {
      const [model] = await readText(text);
      assert.deepEqual(model?.layers, [
        {
          index: '3',
          last: 5,
          granularity: 4,
          name: 'fc',
          operator: 'Gemm',
          signature: 'abc',
          attributes: undefined,
          inputs: [{ elementType: 'float16', dims: [1, 8] }],
          outputs: undefined,
          operations: 64,
          bytes: 32,
          after: [1, 2],
          samplesMs: [],
          runs: 0,
        },
      ]);
    }
  });

  test('quoted fields may hold commas, quotes and line ends', async () => {
    const [model] = await readText('model,index,name,op\n"a ""b"", c",0,"two\nlines",Relu\n');
    assert.equal(model?.model, 'a "b", c');
    assert.equal(model.layers[0]?.name, 'two\nlines');
  });

  test('may begin with a byte order mark, as spreadsheets write it', async () => {
    for (const text of [CSV, LINES]) {
      const [model] = await readText(text);
      const [marked] = await readText(`\ufeff${text}`);
      assert.deepEqual(marked?.layers, model?.layers);
    }
  });

  test('may have the line ends of Windows, and empty lines', async () => {
    const [model] = await readText(CSV);
    const [windows] = await readText(`\r\n${CSV}`.replaceAll('\n', '\r\n\r\n'));
    assert.deepEqual([windows?.layers, windows?.wholeMs], [model?.layers, model?.wholeMs]);
  });

  test('may have its layers in any order', async () => {
    const row = (index: number) => `{"model":"net","index":${index},"op":"Relu","duration_us":10}\n`;
    const [model] = await readText(row(10) + row(2));
    assert.deepEqual(
      model?.layers.map(({ index }) => index),
      ['2', '10'],
    );
  });

  test('says whether layers were traced during a run of the whole model', async () => {
    const [model] = await readText(
      'model,index,op,duration_us,layers_traced\nnet,0,Relu,10,\nnet,,,140,false\nnet,,,150,true\n',
    );
    assert.deepEqual([model?.wholeMs, model?.tracedWholeMs], [[0.14], [0.15]]);
    await assert.rejects(readText('model,index,op,duration_us,layers_traced\nnet,,,140,no\n'), /layers_traced/);
  });

  test('a repeated row of a layer is another run of the layer', async () => {
    const row = '{"model":"net","index":0,"op":"Relu","duration_us":';
    const [model] = await readText(`${row}10}\n${row}12}\n`);
    assert.deepEqual(model?.layers[0]?.samplesMs, [0.01, 0.012]);
  });

  test('a row may have the durations of several runs, which count instead of their mean', async () => {
    const models = await Promise.all(
      [
        'model,index,op,durations_us,duration_us\nnet,0,Relu,10;12 11,99\n',
        'model,index,op,durations_ms\nnet,0,Relu,0.01 0.012;0.011\n',
        '{"model":"net","index":0,"op":"Relu","durations_us":[10,12,11],"duration_us":99}\n',
        '{"model":"net","index":0,"op":"Relu","durations_ms":[0.01,0.012,0.011],"duration_ms":99}\n',
      ].map((text) => readText(text)),
    );
    for (const [model] of models) assert.deepEqual(model?.layers[0]?.samplesMs, [0.01, 0.012, 0.011]);
  });

  test('a row counts once, however many runs its duration stands for', async () => {
    const row = '{"model":"net","index":0,"op":"Relu","duration_us":';
    const [model] = await readText(`${row}10,"runs":50}\n${row}12}\n`);
    assert.deepEqual(model?.layers[0]?.samplesMs, [0.01, 0.012]);
  });

  test('a row without a duration describes a layer that has no run', async () => {
    const [model] = await readText('{"model":"net","index":0,"op":"Relu"}\n');
    assert.deepEqual(
      model?.layers.map(({ samplesMs, runs }) => [samplesMs, runs]),
      [[[], 0]],
    );
  });

  test('models of different systems are kept apart', async () => {
    const row = (system: string): string =>
      `{"model":"net","system":"${system}","index":0,"op":"Relu","duration_us":10}\n`;
    const models = await readText(row('a') + row('b'));
    assert.deepEqual(
      models.map(({ system, layers }) => [system, layers.length]),
      [
        ['a', 1],
        ['b', 1],
      ],
    );
  });
});

describe('a wrong row is named with its line', () => {
  const first = '{"model":"net","index":0,"op":"Relu","duration_us":10}\n';
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['a negative duration', `${first}{"model":"net","index":1,"op":"Relu","duration_us":-1}`, /line 2: duration_us: /],
    ['no number', `${first}{"model":"net","index":1,"op":"Relu","duration_us":NaN}`, /line 2: not JSON/],
    [
      'an infinite duration',
      `${first}{"model":"net","index":1,"op":"Relu","duration_us":1e999}`,
      /line 2: duration_us: /,
    ],
    ['an unknown column', `${first}{"model":"net","index":1,"op":"Relu","latency":1}`, /line 2: .*latency/],
    ['no operator', `${first}{"model":"net","index":1,"duration_us":1}`, /line 2: op: expected/],
    ...[
      '"op":"Relu"',
      '"last":2',
      '"granularity":2',
      '"name":"fc"',
      '"signature":"a"',
      '"attributes":{}',
      '"input_shapes":"1x3"',
      '"output_shapes":"1x3"',
      '"element_type":"int8"',
      '"operations":2',
      '"bytes":2',
      '"after":[0]',
    ].map((field): [string, string, RegExp] => [
      `a whole model with ${field}`,
      `${first}{"model":"net",${field},"duration_us":1}`,
      new RegExp(`line 2: index: expected .*the row of a whole model has no ${field.split('"')[1] ?? ''}$`),
    ]),
    [
      'a sequence that ends before it begins',
      `${first}{"model":"net","index":4,"last":2}`,
      /line 2: last: 2 is before/,
    ],
    [
      'too many predecessors',
      `${first}{"model":"net","index":1,"op":"Relu","after":${JSON.stringify(Array(4097).fill(0))}}`,
      /line 2: after: /,
    ],
    ['invalid shapes', `${first}{"model":"net","index":1,"op":"Relu","input_shapes":"huge"}`, /line 2: .*huge/],
    [
      'the same index with another operator',
      `${first}${first}{"model":"net","index":0,"op":"Tanh"}`,
      /line 3: layer 0 of "net".* line 1;/,
    ],
    [
      'the same index with another operator in CSV',
      'model,index,op,duration_us\nnet,0,Relu,10\nnet,0,Tanh,10\n',
      /line 3: layer 0 of "net".* line 2/,
    ],
    ['a field too many', 'model,index,op\nnet,0,Relu,7\n', /line 2: expected 3 fields, found 4/],
    ['text for a number', 'model,index,op,duration_us\nnet,0,Relu,fast\n', /line 2: duration_us/],
    ['an open quote', 'model,index,op\nnet,0,"Relu\n', /line 2: the file ends in the middle of a record/],
    ['an endless line', `model,index,op\n${'x'.repeat(3 * 2 ** 20)}`, /line 2: a record of more than/],
  ];
  for (const [what, text, message] of cases) {
    test(what, async () => {
      await assert.rejects(readText(text), message);
    });
  }

  test('an endless line, before the whole file is read', async () => {
    let given = 0;
    const endless = async function* (): AsyncGenerator<Buffer> {
      await Promise.resolve();
      while (given++ < 100) yield Buffer.alloc(2 ** 20, 'x');
    };
    await assert.rejects(
      forEachLine(endless(), 'table', () => {}),
      /line 1: a record of more than/,
    );
    assert.ok(given < 4, `${given} pieces were read`);
  });
});
