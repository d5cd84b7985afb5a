import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { deadline, workplace } from '../cli/support/command.js';
import { chain, FOUR_LAYERS, QUICK } from '../cli/support/tiny-models.js';
import { needsReceiver, type ReceivedSpan, type Receiver, startReceiver } from './support/receiver.js';

const MEASURE = 'mlmodelscope.benchmark.v1.BenchmarkService/Measure';

/** A run of a tiny model with an agent in a process of its own. Both send their spans to the receiver. */
async function tracedRun(t: TestContext, { grpcEndpoint }: Receiver, level: string): Promise<void> {
  const place = await workplace(t);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: grpcEndpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  const model = await place.write('tiny.onnx', chain(FOUR_LAYERS));
  const agent = place.start(['agent', '--listen', '127.0.0.1:0'], { env });
  const address = (await agent.said(/listening on (\S+)/))[1] ?? '';
  const command = ['dlbricks', 'validate', model, '--agent', address, '--trace-level', level, ...QUICK];
  const { code, stderr } = await place.run(command, { env });
  assert.equal(code, 0, stderr);
  agent.process.kill('SIGTERM');
  await agent.ended;
}

function childrenOf(spans: readonly ReceivedSpan[], parent: ReceivedSpan | undefined): readonly ReceivedSpan[] {
  return spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
}

describe('a receiver that this project did not write', needsReceiver, () => {
  test('gets one whole trace of a run in three processes: one root, no orphans', deadline, async (t) => {
    const receiver = await startReceiver(t);
    await tracedRun(t, receiver, 'MODEL_TRACE');
    const spans = await receiver.spans();
    const ids = new Set(spans.map(({ spanId }) => spanId));

    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === '');
    assert.deepEqual(
      roots.map(({ name }) => name),
      ['mlmodelscope dlbricks validate'],
    );
    assert.deepEqual(
      spans.filter(({ parentSpanId }) => parentSpanId !== '' && !ids.has(parentSpanId)),
      [],
    );
    assert.deepEqual([...new Set(spans.map(({ service }) => service))].sort(), ['mlmodelscope', 'mlmodelscope-agent']);
  });

  test('gets calls by the conventions for RPC, from the client to the worker process', deadline, async (t) => {
    const receiver = await startReceiver(t);
    await tracedRun(t, receiver, 'MODEL_TRACE');
    const spans = await receiver.spans();

    const client = spans.find(({ name, kind }) => name === MEASURE && kind === 3);
    const { 'server.address': host, 'server.port': port, ...rest } = client?.attributes ?? {};
    assert.deepEqual([host, typeof port], ['127.0.0.1', 'string']);
    assert.deepEqual(rest, {
      'rpc.system.name': 'grpc',
      'rpc.method': MEASURE,
      'rpc.response.status_code': 'OK',
      trace_level: 'APPLICATION_TRACE',
    });
    const [server] = childrenOf(spans, client);
    assert.deepEqual([server?.name, server?.kind, server?.service], [MEASURE, 2, 'mlmodelscope-agent']);
    const [job] = childrenOf(spans, server);
    assert.equal(job?.name, 'measure');
    assert.notEqual(job?.attributes['process.pid'], undefined);
    const steps = childrenOf(spans, job).map(({ name }) => name);
    assert.deepEqual(steps.sort(), ['evaluate', 'load_model', 'warm_up']);
    const runs = childrenOf(
      spans,
      childrenOf(spans, job).find(({ name }) => name === 'evaluate'),
    );
    assert.deepEqual(
      runs.map(({ name, attributes }) => [name, attributes['evaluation_trace_level']]),
      [
        ['c_predict', 'MODEL_TRACE'],
        ['c_predict', 'MODEL_TRACE'],
        ['c_predict', 'MODEL_TRACE'],
      ],
    );
  });

  test('gets nothing above the requested level', deadline, async (t) => {
    const receiver = await startReceiver(t);
    await tracedRun(t, receiver, 'APPLICATION_TRACE');
    const spans = await receiver.spans();

    assert.deepEqual([...new Set(spans.map(({ attributes }) => attributes['trace_level']))], ['APPLICATION_TRACE']);
  });

  test('gets every kernel of a traced model inside of its run, by both protocols over HTTP', deadline, async (t) => {
    const receiver = await startReceiver(t);
    const place = await workplace(t);
    const model = await place.write('tiny.onnx', chain(FOUR_LAYERS));
    for (const protocol of ['http/protobuf', 'http/json']) {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.httpEndpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
      const { code, stdout, stderr } = await place.run(['trace', 'model', model, '--runs', '4', '--export-json', '-'], {
        env,
      });
      assert.equal(code, 0, stderr);
      const { trace_id: traceId } = JSON.parse(stdout) as { readonly trace_id: string };
      const spans = await receiver.spans(traceId);

      const profiled = spans.filter(({ attributes }) => attributes['evaluation_trace_level'] === 'FRAMEWORK_TRACE');
      assert.equal(profiled.length, 4);
      for (const run of profiled) {
        const kernels = childrenOf(spans, run);
        assert.deepEqual(
          kernels.map(({ attributes }) => attributes['op_name']),
          FOUR_LAYERS,
        );
        assert.deepEqual(
          kernels.map(({ attributes }) => attributes['layer_sequence_index']),
          ['0', '1', '2', '3'],
        );
        assert.deepEqual(new Set(kernels.map(({ attributes }) => attributes['shape'])), new Set(['[1,8]']));
        assert.ok(kernels.every(({ startNs, endNs }) => startNs >= run.startNs && endNs <= run.endNs));
      }
    }
  });
});
