import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { PLATFORM_VERSION } from '../../src/base/platform-version.js';
import { chain, FOUR_LAYERS, QUICK } from '../cli/support/tiny-models.js';
import { deadline } from '../cli/support/command.js';
import { workplaceHere } from '../cli/support/workplace-here.js';
import { spansIn } from './support/receiver.js';

/** Spans are made and kept, and sent nowhere. */
const KEPT = { OTEL_TRACES_EXPORTER: 'none' };

interface JaegerTrace {
  readonly traceID: string;
  readonly spans: readonly {
    readonly spanID: string;
    readonly operationName: string;
    readonly references: readonly { readonly spanID: string }[];
    readonly tags: readonly { readonly key: string; readonly value: unknown }[];
    readonly processID: string;
  }[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

describe('the store', () => {
  test('keeps the whole trace of a run, with the spans of an agent elsewhere', deadline, async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('tiny.onnx', chain(FOUR_LAYERS));
    const agent = place.start(['agent', '--listen', '127.0.0.1:0'], { env: KEPT });
    const address = (await agent.said(/listening on (\S+)/))[1] ?? '';
    // A process has spans from its start on, or never.
    const run = await place.start(['dlbricks', 'validate', model, '--agent', address, ...QUICK], { env: KEPT }).ended;
    assert.equal(run.code, 0, run.stderr);

    const { stdout } = await place.run(['trace', 'export', 'latest', '--format', 'otlp']);
    const spans = spansIn(stdout);
    const root = spans.find(({ parentSpanId }) => parentSpanId === '');
    assert.equal(/^trace ([0-9a-f]{32})$/m.exec(run.stderr)?.[1], root?.traceId);
    const { model_name, batch_size, framework_name } = root?.attributes ?? {};
    assert.deepEqual([model_name, Number(batch_size), framework_name], ['tiny', 1, 'onnxruntime']);
    const measured = spans.filter(({ name }) => name === 'measure').map(({ attributes }) => attributes);
    // Twice, and again if other processes disturbed it.
    assert(measured.filter(({ model_name }) => model_name === 'tiny').length >= 2);
    // The only other benchmark that is measured alone is a call that does no work.
    assert(measured.every(({ signature }) => /^[0-9a-f]{64}$/.test(String(signature))));
    assert(spans.some(({ name, attributes }) => name === 'measure_bricks' && attributes['signatures'] !== undefined));
    const shown = await place.run(['trace', 'show', 'latest']);
    assert.match(shown.stdout, /ms {2}measure {2}tiny/);
    assert.match(shown.stdout, /ms {2}measure_bricks {2}\d+ bricks/);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const outside = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
    assert.deepEqual(
      outside.map(({ name, parentSpanId }) => [name, parentSpanId]),
      [['mlmodelscope dlbricks validate', '']],
    );
    assert.deepEqual(new Set(spans.map(({ service }) => service)), new Set(['mlmodelscope', 'mlmodelscope-agent']));
    assert.deepEqual(new Set(spans.map(({ version }) => version)), new Set([PLATFORM_VERSION]));
    assert.ok(spans.some(({ name }) => name === 'evaluate'));
  });

  test(
    "keeps the trace of `trace model` without any variable, for `show` and for Jaeger's readers",
    deadline,
    async (t) => {
      const place = await workplaceHere(t);
      const model = await place.write('tiny.onnx', chain(FOUR_LAYERS));
      const traced = await place.run(['trace', 'model', model, '--runs', '4']);
      assert.equal(traced.code, 0, traced.stderr);
      const id = /^trace: +([0-9a-f]{32})$/m.exec(traced.stdout)?.[1] ?? '';

      const listed = await place.run(['trace', 'list']);
      assert.match(listed.stdout, new RegExp(`evaluation_trace tiny +│ ${id.slice(0, 8)} │`));
      const shown = await place.run(['trace', 'show', id.slice(0, 12)]);
      assert.equal(shown.stdout.match(/c_predict {2}FRAMEWORK_TRACE/g)?.length, 4);
      assert.match(shown.stdout, /Relu {2}\[1,8\]\n.* {2}Sigmoid {2}\[1,8\]/);

      const exported = await place.run(['trace', 'export', id]);
      const { data } = JSON.parse(exported.stdout) as { readonly data: readonly JaegerTrace[] };
      assert.deepEqual(
        data.map(({ traceID }) => traceID),
        [id],
      );
      const [trace] = data;
      const roots = trace?.spans.filter(({ references }) => references.length === 0) ?? [];
      assert.deepEqual(
        roots.map(({ operationName }) => operationName),
        ['evaluation_trace'],
      );
      assert.equal(trace?.processes[roots[0]?.processID ?? '']?.serviceName, 'mlmodelscope');
      const layers = trace?.spans.filter(({ tags }) => tags.some(({ key }) => key === 'layer_sequence_index')) ?? [];
      assert.equal(layers.length, 4 * FOUR_LAYERS.length);
    },
  );

  test(
    '`trace model` shows the slowest kernels first and totals by operator, and exports them',
    deadline,
    async (t) => {
      const place = await workplaceHere(t, { columns: 40 });
      const model = await place.write('four.onnx', chain(FOUR_LAYERS));
      const args = ['trace', 'model', model, '--runs', '4'];
      const shown = await place.run([...args, '--export-json', 'kernels.json', '--export-markdown', 'kernels.md']);
      assert.equal(shown.code, 0, shown.stderr);
      assert.match(shown.stdout, /This terminal is too narrow for: name/);
      assert.match(shown.stdout, /│ Relu +│ +2 │/);
      const { rows, operators } = JSON.parse(await readFile(place.path('kernels.json'), 'utf8')) as {
        readonly rows: readonly { readonly latency_ms: number }[];
        readonly operators: readonly { readonly op_name: string; readonly kernels: number }[];
      };
      const times = rows.map(({ latency_ms: ms }) => ms);
      assert.deepEqual(
        times,
        [...times].sort((a, b) => b - a),
      );
      assert.equal(times.length, 4);
      assert.equal(operators.find(({ op_name: name }) => name === 'Relu')?.kernels, 2);
      assert.match(await readFile(place.path('kernels.md'), 'utf8'), /Relu: 2 kernels, /);
      const csv = await place.run([...args, '--export-csv', '-', '--quiet']);
      assert.match(csv.stdout, /^sequence_index,op_name,name,.*latency_ms,share,runs\r\n/);
      assert.equal(csv.stderr, '');
    },
  );

  test('`trace model` refuses more threads than cores, with the remedy', deadline, async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('tiny.onnx', chain(FOUR_LAYERS));
    const cores = availableParallelism();
    const { code, stderr } = await place.run(['trace', 'model', model, '--runs', '2', '--threads', String(cores + 1)]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`ask for at most ${cores} with --threads`));
  });

  test('says so if a trace is not in it', deadline, async (t) => {
    const place = await workplaceHere(t);
    const env = { MLMODELSCOPE_STORE: undefined, XDG_DATA_HOME: place.path('data') };
    const { code, stderr } = await place.run(['trace', 'show', 'latest'], { env });
    assert.deepEqual(
      [code, stderr.trim()],
      [2, 'no trace latest is in the store; `mlmodelscope trace list` shows the traces in it'],
    );
  });
});
