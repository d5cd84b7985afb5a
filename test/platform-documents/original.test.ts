import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { describe, test, type TestContext } from 'node:test';
import { keepLayers } from '../../src/platform-documents/keep-layers.js';
import { keepWholeModel } from '../../src/platform-documents/keep-whole-model.js';
import { goArchitecture } from '../../src/base/go-architecture.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { deadline, workplace } from '../cli/support/command.js';
import { chain, FOUR_LAYERS } from '../cli/support/tiny-models.js';
import { sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';
import { needsOriginalAnalyses, originalAnalyses } from './support/original-analyses.js';
import { startTracingServer } from './support/tracing-server.js';

const MANIFEST = { version: '1.0', framework: { name: 'TensorFlow', version: '1.x' } };

/** A model manifest in the platform's format, for a chain of layers. */
function olderManifest(model: Uint8Array): string {
  const tensor = '{ type: tensor, parameters: { element_type: float32';
  return `
name: Tiny_Net
framework: { name: Onnxruntime, version: '>=1' }
version: 1.10
inputs: [${tensor}, input_layer: x } }]
output: ${tensor}, output_layer: y } }
model: { graph_path: tiny.onnx, graph_checksum: ${createHash('md5').update(model).digest('hex')} }
`;
}

async function tinyNet(t: TestContext) {
  const place = await workplace(t);
  const model = chain(FOUR_LAYERS);
  await place.write('tiny.onnx', model);
  return { place, manifest: await place.write('tiny.yml', olderManifest(model)) };
}

describe("the platform's own analyses", { ...needsOriginalAnalyses, ...deadline }, () => {
  test('read whole models, each version by itself', async (t) => {
    const store = await openMemoryStore();
    const outcomes = [[1, 2, 3, 4, 100], [40], [8, 9]].map((runMs) => ({
      kind: 'samples' as const,
      runMs,
      warmupMs: [],
    }));
    const measurements = outcomes.map((outcome, index) => sampleMeasurement(index, { outcome }));
    const [one = assert.fail(), another = assert.fail(), larger = assert.fail()] = measurements;
    const model = { name: 'ResNet_18', manifest: MANIFEST, batchSize: 2, host: 'bench-1' };
    await keepWholeModel(store, { ...model, measurement: one });
    await keepWholeModel(store, { ...model, manifest: { ...MANIFEST, version: '2.0' }, measurement: another });
    await keepWholeModel(store, { ...model, batchSize: 8, measurement: larger });

    const filter = { 'model.name': 'ResNet_18', 'model.version': '1.0', hostname: 'bench-1' };
    const { trace_levels, models } = await originalAnalyses(t, store, 'embedded', filter);
    assert.deepEqual(trace_levels, [2, 2]);
    assert.deepEqual(
      models.map(({ batch_size, durations, latency_ms }) => ({ batch_size, durations, latency_ms })),
      [
        // The mean of 2, 3 and 4 ms, for two inputs.
        { batch_size: 2, durations: [1000, 2000, 3000, 4000, 100_000], latency_ms: 1.5 },
        { batch_size: 8, durations: [8000, 9000], latency_ms: 8.5 / 8 },
      ],
    );
    assert.deepEqual(models[0]?.base, [
      ...['ResNet_18', '1.0', 'TensorFlow', '1.x', SYSTEM.framework, SYSTEM.frameworkVersion, 'false', 'MODEL_TRACE'],
      ...['bench-1', 'amd64', String(SYSTEM.memoryBytes / 1024), SYSTEM.processor, '', '2026-01-02T03:04:05.678Z'],
    ]);
    const asRun = { 'framework.name': SYSTEM.framework, batch_size: 8 };
    assert.equal((await originalAnalyses(t, store, 'embedded', asRun)).models[0]?.latency_ms, 8.5 / 8);
  });

  test('read layers, but not layers inside of others', async (t) => {
    const store = await openMemoryStore();
    const kernel = (sequenceIndex: string, opName: string, runMs: readonly number[]) => {
      return { sequenceIndex, opName, name: `${opName}_${sequenceIndex}`, shape: '[1,8]', runMs };
    };
    await keepLayers(store, {
      ...{ name: 'Tiny_Net', manifest: MANIFEST, batchSize: 1, host: 'bench-1', system: SYSTEM, traceId: 'c0ffee' },
      ...{ endedAt: '2026-01-02T03:04:05.678Z', untracedMs: [3, 4, 5], tracedMs: [6, 7] },
      kernels: [kernel('0', 'Conv', [2, 3]), kernel('1', 'If', [3, 4]), kernel('1-0', 'Relu', [1, 1, 1, 1])],
    });
    const { trace_levels, models, layers } = await originalAnalyses(t, store, 'embedded', { 'model.name': 'Tiny_Net' });
    assert.deepEqual(trace_levels?.toSorted(), [2, 3]);
    // The runs with the profile do not count as the model's.
    assert.deepEqual(
      models.map(({ durations, latency_ms }) => [durations, latency_ms]),
      [[[3000, 4000, 5000], 4]],
    );
    assert.deepEqual(layers, [
      { index: 0, name: 'Conv_0', type: 'Conv', shape: '[1,8]', duration: 2500 },
      { index: 1, name: 'If_1', type: 'If', shape: '[1,8]', duration: 3500 },
    ]);
  });

  test('read the documents of the commands, with spans from the tracing server that the commands send traces to', async (t) => {
    const { place, manifest } = await tinyNet(t);
    const server = await startTracingServer(t);
    const run = (...args: readonly string[]) => {
      return place.run([...args, '--trace-url-template', server.traceUrlTemplate], { env: server.env });
    };
    const traced = await run('trace', 'model', manifest, '--runs', '4');
    assert.equal(traced.code, 0, traced.stderr);
    const timed = await run('latency', manifest, '--batch', '2', '--runs', '5', '--warmup', '1');
    assert.equal(timed.code, 0, timed.stderr);
    const store = await openEmbeddedStore(place.store, {});
    t.after(() => store.close());

    const layered = await originalAnalyses(t, store, 'url', { 'model.name': 'Tiny_Net', batch_size: 1 });
    assert.deepEqual(
      layered.layers.map(({ type, shape }) => [type, shape]),
      FOUR_LAYERS.map((operator) => [operator, '[1,8]']),
    );
    const filter = { 'model.name': 'Tiny_Net', 'model.version': '1.10', batch_size: 2 };
    const { models } = await originalAnalyses(t, store, 'url', filter);
    assert.equal(models[0]?.durations.length, 5);
    assert.deepEqual(models[0]?.base.slice(0, 4), ['Tiny_Net', '1.10', 'Onnxruntime', '>=1']);
    assert.deepEqual(models[0]?.base.slice(8, 10), [hostname(), goArchitecture(process.arch)]);

    // Repeating the command adds neither a document nor a trace.
    const sent = server.spans.filter(({ name }) => name === 'evaluation_predict_urls').length;
    const again = await run('latency', manifest, '--batch', '2', '--runs', '5', '--warmup', '1', '--remeasure', 'none');
    assert.equal(again.code, 0, again.stderr);
    assert.equal(server.spans.filter(({ name }) => name === 'evaluation_predict_urls').length, sent);
    assert.equal(sent, 3);
    assert.equal((await originalAnalyses(t, store, 'url', filter)).models[0]?.durations.length, 5);
  });
});
