import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../support/until.js';
import { deadline } from '../cli/support/command.js';
import { chain, FOUR_LAYERS } from '../cli/support/tiny-models.js';
import { workplaceHere } from '../cli/support/workplace-here.js';
import { startTracingServer } from '../platform-documents/support/tracing-server.js';

/** Spans are made and kept, and sent nowhere. */
const KEPT = { OTEL_TRACES_EXPORTER: 'none' };

const EVALUATION = `
dlspec: evaluation/v1
name: tiny
version: 1.0.0
models: [tiny.onnx]
settings: { measure_end_to_end: true, repeat_limit: 0, remeasure: none }
protocol: { warmup_runs: 1, runs: 3 }
`;

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly [
      { readonly spans: readonly { name: string; status: { code: number; message: string } }[] },
    ];
  }[];
}

describe('the trace of an evaluation that a client submits to a server', () => {
  test('begins at the client, ends without errors, and is in the server’s store by its id', deadline, async (t) => {
    const place = await workplaceHere(t);
    await place.write('tiny.onnx', chain(FOUR_LAYERS));
    const manifest = await place.write('evaluation.yml', EVALUATION);
    const server = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins'], { env: KEPT });
    const [, address = ''] = await server.said(/server listening on (\S+)/);
    const plugin = place.start(['plugin', 'dlbricks', '--server', address], { env: KEPT });
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address], { env: KEPT });
    await Promise.all([plugin.said(/plugin \w+ registered/), agent.said(/registered with/)]);

    // The client has no store, and another place for its own spans.
    const tracing = await startTracingServer(t);
    const ending = await place.start(['evaluate', manifest, '--server', address], { env: tracing.env }).ended;
    assert.equal(ending.code, 0, ending.stderr);
    const [, id = ''] = /^trace ([0-9a-f]{32})$/m.exec(ending.stderr) ?? [];
    const own = tracing.spans.filter(({ traceId }) => traceId === id);
    const root = own.find(({ parentSpanId }) => parentSpanId === '');
    assert.equal(root?.name, 'mlmodelscope evaluate');
    const { model_name, batch_size, framework_name } = root.attributes;
    assert.deepEqual([model_name, Number(batch_size), framework_name], ['tiny', 1, 'onnxruntime']);
    const follow = own.find(({ name }) => name.endsWith('/FollowEvaluation'));
    assert.equal(follow?.attributes['rpc.response.status_code'], 'OK');
    assert.deepEqual(
      own.filter(({ attributes }) => attributes['error.type'] !== undefined).map(({ name }) => name),
      [],
    );

    let listed = '';
    await until(async () => {
      listed = (await place.run(['trace', 'list'])).stdout;
      return listed.includes('evaluation tiny');
    });
    assert.match(listed, new RegExp(`evaluation tiny +│ ${id.slice(0, 8)} │`));
    for (const named of ['latest', id.slice(0, 10), id]) {
      const shown = await place.run(['trace', 'show', named]);
      assert.match(shown.stdout, new RegExp(`^trace ${id}$`, 'm'));
      assert.match(shown.stdout, /ms {2}evaluation {2}tiny/);
    }

    // Only the plugin itself counts combinations, so the evaluation begins.
    const counts = JSON.stringify(Array.from({ length: 64 }, (_, index) => index + 1));
    const matrix = `matrix: { batch_size: ${counts}, granularity: ${counts} }\n`;
    const wrong = await place.write('wrong.yml', `${EVALUATION}${matrix}`);
    await place.start(['evaluate', wrong, '--server', address], { env: tracing.env }).ended;
    await until(async () => {
      const { stdout } = await place.run(['trace', 'export', 'latest', '--format', 'otlp']);
      const spans = (JSON.parse(stdout) as OtlpTraces).resourceSpans.flatMap(({ scopeSpans: [{ spans }] }) => spans);
      const evaluation = spans.find(({ name }) => name === 'evaluation');
      return evaluation?.status.code === 2 && /combinations/.test(evaluation.status.message);
    });
    const unknown = await place.run(['trace', 'show', 'fffffffff']);
    assert.equal(unknown.code, 2);
  });
});
