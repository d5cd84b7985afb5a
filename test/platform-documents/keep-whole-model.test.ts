import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { openMongoStore } from '../../src/store/mongodb/open.js';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from '../../src/platform-documents/documents.js';
import { keepWholeModel } from '../../src/platform-documents/keep-whole-model.js';
import type { JaegerDocument as Trace } from '../../src/tracing/jaeger-document.js';
import { all } from '../store/collection-contract.js';
import { needsServer, newDatabase, withDatabase } from '../store/mongodb/server.js';
import { sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';

const RUN_MS = [5, 1, 1.5, 2, 100];

const MODEL = {
  name: 'resnet18',
  batchSize: 4,
  measurement: sampleMeasurement(1, { outcome: { kind: 'samples', runMs: RUN_MS, warmupMs: [50, 9] } }),
};

/** What the platform's own analysis reads (c3sr/evaluation, summary_model.go): µs of each c_predict at MODEL_TRACE. */
function predictionsIn(trace: Trace): readonly number[] {
  return trace.data
    .flatMap(({ spans }) => spans)
    .filter(({ operationName }) => operationName === 'c_predict')
    .filter(({ tags }) => tags.some(({ key, value }) => key === 'evaluation_trace_level' && value === 'MODEL_TRACE'))
    .map(({ duration }) => duration);
}

describe('a whole model in the form of the platform', () => {
  it('has an evaluation that refers to a performance with a trace of its runs', async () => {
    const store = await openMemoryStore();
    await keepWholeModel(store, MODEL);
    await keepWholeModel(store, MODEL);
    const [evaluation, ...others] = await all(store.collection(EVALUATION_DOCUMENTS).find({}));
    assert(evaluation !== undefined);
    assert.equal(others.length, 0);
    assert.equal(evaluation.model.name, 'resnet18');
    assert.equal(evaluation.framework.version, SYSTEM.frameworkVersion);
    assert.equal(evaluation.batch_size, 4);
    assert.equal(evaluation.machine_information.cpu[0]?.modelname, SYSTEM.processor);
    const performance = await store.collection(PERFORMANCE_DOCUMENTS).get({ _id: evaluation.performance_id });
    assert(performance !== undefined);
    assert.deepEqual(
      predictionsIn(performance.trace),
      RUN_MS.map((ms) => ms * 1000),
    );
  });

  it('lays spans out in their parents, one after another, up to the moment of the measurement', async () => {
    const store = await openMemoryStore();
    await keepWholeModel(store, MODEL);
    const [performance] = await all(store.collection(PERFORMANCE_DOCUMENTS).find({}));
    const spans = performance?.trace.data[0]?.spans ?? [];
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

  it('does not exist for a model that failed', async () => {
    const store = await openMemoryStore();
    const outcome = { kind: 'failure', reason: 'crashed', message: 'x' } as const;
    await keepWholeModel(store, { ...MODEL, measurement: sampleMeasurement(1, { outcome }) });
    assert.deepEqual(await all(store.collection(EVALUATION_DOCUMENTS).find({})), []);
  });

  it('is found in MongoDB by the queries and types of the platform', needsServer, async (t) => {
    const uri = newDatabase(t);
    const store = await openMongoStore(uri, { onWarning: () => undefined });
    t.after(() => store.close());
    await keepWholeModel(store, MODEL);
    await withDatabase(uri, async (db) => {
      const [evaluation] = await db
        .collection('evaluation')
        .find({ 'model.name': 'resnet18', batch_size: 4 })
        .toArray();
      assert(evaluation?.['created_at'] instanceof Date);
      const performance = await db.collection('performance').findOne({ _id: evaluation['performance_id'] as never });
      assert.deepEqual(
        predictionsIn(performance?.['trace'] as Trace),
        RUN_MS.map((ms) => ms * 1000),
      );
    });
    const [document] = await all(store.collection(EVALUATION_DOCUMENTS).find({}));
    assert.equal(document?.created_at, MODEL.measurement.measuredAt);
  });
});
