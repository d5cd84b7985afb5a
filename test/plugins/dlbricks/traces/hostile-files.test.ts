import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composeFromTraces } from '../../../../plugins/dlbricks/commands/compose-traces.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Progress } from '../../../../src/evaluation/plugin.js';
import { readTrace } from '../../../../src/foreign-traces/read-trace.js';
import { recordingHost } from '../commands/command-host.js';
import { type StartOptions, workplace } from '../../../cli/support/command.js';

/** Files of this size are read and composed within seconds. Without bounds, they took minutes or all memory. */
const deadline = { timeout: 300_000 };

/** The memory of a command for files of up to some megabytes. */
const LITTLE_MEMORY: StartOptions = { env: { NODE_OPTIONS: '--max-old-space-size=400' } };

const row = (fields: string): string => `{"model":"net",${fields}}\n`;
const spans = (all: readonly string[], more = ''): string => `{"data":[{"spans":[${all.join()}]${more}}]}`;
const span = (tags: Readonly<Record<string, string>>, more = ''): string => {
  const list = Object.entries(tags).map(([key, value]) => ({ key, value }));
  return `{"operationName":"n","duration":5,"tags":${JSON.stringify(list)}${more}}`;
};
const layered = (tags: Readonly<Record<string, string>>): string => {
  return spans([span({ layer_sequence_index: '0', op_name: 'Relu', ...tags })]);
};
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const many = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => make(index));
const shapes = '"input_shapes":[[1,8]],"output_shapes":[[1,8]],"element_type":"float32"';

/** A file, the exit code of the command, and its message. */
const FILES: readonly (readonly [what: string, content: () => string, code: number, said: RegExp])[] = [
  [
    'an open quote and a million line ends',
    () => `model,index,op\nnet,0,"${'\n'.repeat(1e6)}`,
    2,
    /line 2: the file ends/,
  ],
  [
    'an open quote and ever more line ends',
    () => `model,index,op\nnet,0,"${'\n'.repeat(4e6)}`,
    2,
    /line 2: a record of more/,
  ],
  [
    'quotes that open and close on every line',
    () => `model,index,op\n${many(20_000, (i) => `net,${i},"a""\n""b"`).join('\n')}\n`,
    3,
    /^$/,
  ],
  [
    'a layer 200,000 modules deep, of Jaeger',
    () => layered({ layer_sequence_index: many(200_000, String).join('-') }),
    2,
    /layer_sequence_index: expected a number/,
  ],
  [
    'a layer 200,000 modules deep, of Chrome',
    () => `[{"ph":"X","ts":1,"dur":1,"pid":1,"name":"${many(200_000, () => '1').join('-')}__n__T"}]`,
    2,
    /layer_sequence_index: expected a number/,
  ],
  [
    'a row for 100,000,000 layers',
    () => row('"index":0,"last":100000000,"duration_ms":1'),
    2,
    /line 1: last: expected at most/,
  ],
  [
    'a thousand rows for 100,000 layers each',
    () => many(1000, (i) => row(`"index":${i},"last":${i + 100_000},"duration_ms":1`)).join(''),
    2,
    /more than 2000000 layers together/,
  ],
  [
    'attributes 300,000 levels deep in a line',
    () => row(`"index":0,"op":"Relu","attributes":{"a":${nested(300_000)}}`),
    2,
    /nested deeper/,
  ],
  [
    'attributes 300,000 levels deep in a field',
    () => `model,index,op,attributes\nnet,0,Relu,${nested(300_000)}\n`,
    2,
    /attributes: /,
  ],
  ['attributes 300,000 levels deep in a tag', () => layered({ attributes: nested(300_000) }), 0, /^$/],
  ['two million shapes in a tag', () => layered({ input_shape: '[]'.repeat(2e6) }), 0, /^$/],
  [
    '60,000 spans that each name a model and a process of their own',
    () =>
      spans(
        many(60_000, (i) =>
          span({ model_name: 'm', layer_sequence_index: '0', op_name: 'Relu' }, `,"processID":"p${i}"`),
        ),
      ),
    0,
    /^$/,
  ],
  [
    '20,000 layers that are one and the same',
    () => many(20_000, (i) => row(`"index":${i},"op":"Relu",${shapes},"duration_ms":1`)).join(''),
    0,
    /^$/,
  ],
  [
    'too many models',
    () => many(10_001, (i) => `{"model":"m${i}","index":0,"op":"Relu","duration_ms":1}\n`).join(''),
    2,
    /10000 models/,
  ],
  [
    'a time of 1e308 ms',
    () => row(`"index":0,"op":"Relu",${shapes},"duration_ms":1e308`),
    2,
    /line 1: a duration of 1e\+308 ms/,
  ],
  [
    'a time of 1e-320 ms',
    () => row(`"index":0,"op":"Relu",${shapes},"duration_ms":1e-320`),
    2,
    /line 1: a duration of .*e-320 ms/,
  ],
];

describe('composing from a hostile file ends soon and within little memory', { concurrency: 2 }, () => {
  for (const [what, content, code, said] of FILES) {
    test(what, deadline, async (t) => {
      const place = await workplace(t);
      const file = await place.write('trace', content());
      const args = [
        'dlbricks',
        'compose',
        '--from-traces',
        file,
        '--system',
        's',
        '--quiet',
        '--export-json',
        'out.json',
      ];
      const ending = await place.run(args, LITTLE_MEMORY);
      assert.match(ending.stderr, said);
      assert.equal(ending.code, code, ending.stderr);
    });
  }
});

describe('an interrupt ends composing', () => {
  test('between two estimates', async (t) => {
    const place = await workplace(t);
    const rows = many(20, (i) => `{"model":"m${i}","index":0,"op":"Relu",${shapes},"duration_ms":1}\n`);
    const file = await place.write('table.jsonl', rows.join(''));
    const interrupt = new AbortController();
    const recording = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
    const progress = (): Progress => ({
      ...recording.progress(true),
      // Called last when the models have been read.
      stop: () => void setImmediate(() => interrupt.abort()),
    });
    const host = { ...recording, signal: interrupt.signal, progress };
    await assert.rejects(composeFromTraces([], { fromTraces: [file], system: 's', quiet: true }, host), {
      code: 'cancelled',
    });
  });

  test('while calls of operators are sorted', async (t) => {
    const place = await workplace(t);
    const calls = many(30_000, (i) => `{"ph":"X","cat":"cpu_op","name":"a","ts":${2 * i},"dur":1,"pid":1}`);
    const content = `[${calls.join()}]`;
    const file = await place.write('calls.json', content);
    const interrupt = new AbortController();
    const onProgress = (bytes: number): void => {
      if (bytes === content.length) setImmediate(() => interrupt.abort());
    };
    await assert.rejects(readTrace(file, { signal: interrupt.signal, onProgress }), { code: 'cancelled' });
  });
});
