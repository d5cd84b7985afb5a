import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { openMongoStore } from '../../src/store/mongodb/open.js';
import {
  EVALUATION_DOCUMENTS,
  PERFORMANCE_DOCUMENTS,
  type PerformanceDocument,
} from '../../src/platform-documents/documents.js';
import { keepWholeModel } from '../../src/platform-documents/keep-whole-model.js';
import type { JaegerSpan } from '../../src/tracing/jaeger-document.js';
import { needsServer, newDatabase, withDatabase } from '../store/mongodb/server.js';
import { sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';
import { embeddedSpans, tagOf } from './support/embedded-spans.js';

const RUN_MS = [5, 1, 1.5, 2, 100];

const MODEL = {
  name: 'ResNet_18',
  manifest: { version: '1.0', framework: { name: 'Onnxruntime', version: '1.x' } },
  batchSize: 4,
  host: 'bench-1',
  measurement: sampleMeasurement(1, { outcome: { kind: 'samples', runMs: RUN_MS, warmupMs: [50, 9] } }),
};

/**
 * The durations that the platform's own analysis reads (c3sr/evaluation, summary_model.go): µs of each c_predict at
 * MODEL_TRACE.
 */
function predictionsIn(spans: readonly JaegerSpan[]): readonly number[] {
  return spans
    .filter((span) => span.operationName === 'c_predict' && tagOf(span, 'evaluation_trace_level') === 'MODEL_TRACE')
    .map(({ duration }) => duration);
}

describe('a whole model in the form of the platform', () => {
  it('has an evaluation that refers to a performance with a trace of its runs', async () => {
    const store = await openMemoryStore();
    await keepWholeModel(store, MODEL);
    await keepWholeModel(store, MODEL);
    const [evaluation, ...others] = await collect(store.collection(EVALUATION_DOCUMENTS).find({}));
    assert(evaluation !== undefined);
    assert.equal(others.length, 0);
    assert.deepEqual(evaluation.model, {
      name: 'ResNet_18',
      version: '1.0',
      framework: { name: 'Onnxruntime', version: '1.x' },
    });
    assert.deepEqual(evaluation.framework, { name: SYSTEM.framework, version: SYSTEM.frameworkVersion });
    // Go's name of Node's x64.
    assert.equal(evaluation.machine_architecture, 'amd64');
    assert.deepEqual([evaluation.hostname, evaluation.machine_information.hostname], ['bench-1', 'bench-1']);
    assert.equal(evaluation.batch_size, 4);
    assert.equal(evaluation.machine_information.cpu[0]?.modelname, SYSTEM.processor);
    const performance = await store.collection(PERFORMANCE_DOCUMENTS).get({ _id: evaluation.performance_id });
    // The number of MODEL_TRACE in ExecutionOptions.TraceLevel, predictor.proto.
    assert.equal(performance?.trace_level, 2);
    assert.deepEqual(
      predictionsIn(embeddedSpans(performance)),
      RUN_MS.map((ms) => ms * 1000),
    );
  });

  it('places spans inside their parents, one after another, up to the time of the measurement', async () => {
    const store = await openMemoryStore();
    await keepWholeModel(store, MODEL);
    const [performance] = await collect(store.collection(PERFORMANCE_DOCUMENTS).find({}));
    const spans = embeddedSpans(performance);
    const byId = new Map(spans.map((span) => [span.spanID, span]));
    assert.equal(byId.size, 2 + 2 * RUN_MS.length);
    for (const { references, startTime, duration } of spans) {
      const parent = byId.get(references[0]?.spanID ?? '');
      if (parent === undefined) continue;
      assert(startTime >= parent.startTime && startTime + duration <= parent.startTime + parent.duration);
    }
    const [root] = spans;
    assert(root !== undefined);
    assert.equal(root.startTime + root.duration, Date.parse(MODEL.measurement.measuredAt) * 1000);
  });

  it('keeps the host that measured it until it is measured again', async () => {
    const store = await openMemoryStore();
    const hostnames = async () =>
      (await collect(store.collection(EVALUATION_DOCUMENTS).find({}))).map((e) => e.hostname);
    await keepWholeModel(store, MODEL);
    await keepWholeModel(store, { ...MODEL, host: 'another' });
    assert.deepEqual(await hostnames(), ['bench-1']);
    const measurement = { ...MODEL.measurement, measuredAt: '2026-01-03T00:00:00.000Z' };
    await keepWholeModel(store, { ...MODEL, host: 'another', measurement });
    assert.deepEqual(await hostnames(), ['another']);
  });

  it('replaces the documents of an older version', async () => {
    const store = await openMemoryStore();
    await keepWholeModel(store, MODEL);
    const [evaluation = assert.fail()] = await collect(store.collection(EVALUATION_DOCUMENTS).find({}));
    const [performance = assert.fail()] = await collect(store.collection(PERFORMANCE_DOCUMENTS).find({}));
    // As 0.1 wrote them: Node's architecture, the command's host, the level's name, Jaeger's document uncompressed.
    const older = { ...evaluation, gpu_driver: undefined, machine_architecture: 'x64', hostname: 'laptop' };
    await store.collection(EVALUATION_DOCUMENTS).put(older);
    const trace = { data: [] };
    await store.collection(PERFORMANCE_DOCUMENTS).put({ ...performance, trace, trace_level: 'MODEL_TRACE' });
    assert.equal((await collect(store.collection(PERFORMANCE_DOCUMENTS).find({})))[0]?.trace_level, 'MODEL_TRACE');
    await keepWholeModel(store, MODEL);
    assert.deepEqual(await collect(store.collection(EVALUATION_DOCUMENTS).find({})), [evaluation]);
    assert.deepEqual(await collect(store.collection(PERFORMANCE_DOCUMENTS).find({})), [performance]);
  });

  it('does not exist for a model that failed', async () => {
    const store = await openMemoryStore();
    const outcome = { kind: 'failure', reason: 'crashed', message: 'x' } as const;
    await keepWholeModel(store, { ...MODEL, measurement: sampleMeasurement(1, { outcome }) });
    assert.deepEqual(await collect(store.collection(EVALUATION_DOCUMENTS).find({})), []);
  });

  it('is found in MongoDB by the queries and types of the platform', needsServer, async (t) => {
    const uri = newDatabase(t);
    const store = await openMongoStore(uri, { onWarning: () => undefined });
    t.after(() => store.close());
    await keepWholeModel(store, MODEL);
    await withDatabase(uri, async (db) => {
      const [evaluation] = await db
        .collection('evaluation')
        .find({ 'model.name': 'ResNet_18', 'model.version': '1.0', batch_size: 4 })
        .toArray();
      assert(evaluation?.['created_at'] instanceof Date);
      const performance = await db.collection('performance').findOne({ _id: evaluation['performance_id'] as never });
      assert.equal(performance?.['trace_level'], 2);
      assert.deepEqual(
        predictionsIn(embeddedSpans(performance as unknown as PerformanceDocument)),
        RUN_MS.map((ms) => ms * 1000),
      );
    });
    const [document] = await collect(store.collection(EVALUATION_DOCUMENTS).find({}));
    assert.equal(document?.created_at, MODEL.measurement.measuredAt);
  });
});
