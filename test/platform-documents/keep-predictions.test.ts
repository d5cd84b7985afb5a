import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../src/base/collect.js';
import {
  EVALUATION_DOCUMENTS,
  INPUT_PREDICTION_DOCUMENTS,
  PERFORMANCE_DOCUMENTS,
} from '../../src/platform-documents/documents.js';
import { keepPredictions, type Predictions } from '../../src/platform-documents/keep-predictions.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { openMongoStore } from '../../src/store/mongodb/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { needsServer, newDatabase, withDatabase } from '../store/mongodb/server.js';
import { SYSTEM } from '../store/sample-measurement.js';
import { embeddedSpans } from './support/embedded-spans.js';

const CORNERS = { xmin: 0, xmax: 0.5, ymin: 0.25, ymax: 1 };

const PREDICTIONS: Predictions = {
  id: 'a run',
  model: {
    name: 'SSD',
    manifest: { version: '1.0', framework: { name: 'Onnxruntime', version: '1.x' } },
    batchSize: 2,
  },
  system: SYSTEM,
  host: 'bench-1',
  dataset: { category: 'photos', name: 'dogs' },
  endedAt: '2026-01-02T03:04:05.678Z',
  runMs: [3, 5],
  inputs: [
    { inputId: 'a.jpg', features: [{ index: 7, label: 'cat', probability: 0.75 }] },
    { inputId: 'b.jpg', features: [{ index: 2, label: 'dog', probability: 0.5, corners: CORNERS }] },
    { inputId: 'broken.jpg', features: [] },
    { inputId: 'c.jpg', features: [{ index: 7, label: 'cat', probability: NaN }] },
  ],
  traceId: '3f0c',
};

async function assertKept(store: ResultStore): Promise<void> {
  const id = await keepPredictions(store, PREDICTIONS);
  const evaluation = await store.collection(EVALUATION_DOCUMENTS).get({ _id: id });
  assert.ok(evaluation !== undefined);
  const {
    model,
    dataset_category,
    dataset_name,
    batch_size,
    hostname,
    metadata,
    input_prediction_ids: ids,
  } = evaluation;
  assert.deepEqual(model, { name: 'SSD', version: '1.0', framework: { name: 'Onnxruntime', version: '1.x' } });
  assert.deepEqual([dataset_category, dataset_name, batch_size, hostname], ['photos', 'dogs', 2, 'bench-1']);
  assert.equal(metadata['trace_id'], '3f0c');
  const inputs = await collect(store.collection(INPUT_PREDICTION_DOCUMENTS).find({}));
  const ordered = inputs.sort((a, b) => a.inputindex - b.inputindex);
  assert.deepEqual(
    ordered.map(({ _id }) => _id),
    ids,
  );
  assert.deepEqual(
    ordered.map(({ inputid, features }) => [inputid, features.map(({ type, feature }) => [type, feature])]),
    [
      // CLASSIFICATION and BOUNDINGBOX of features.proto.
      ['a.jpg', [[3, { classification: { index: 7, label: 'cat' } }]]],
      ['b.jpg', [[4, { boundingbox: { index: 2, label: 'dog', ...CORNERS } }]]],
      ['broken.jpg', []],
      ['c.jpg', []],
    ],
  );
  assert.ok(ordered.every(({ createdat }) => createdat === PREDICTIONS.endedAt));
  const performance = await store.collection(PERFORMANCE_DOCUMENTS).get({ _id: evaluation.performance_id });
  const runs = embeddedSpans(performance).filter(({ operationName }) => operationName === 'c_predict');
  assert.deepEqual(
    runs.map(({ duration }) => duration),
    [3000, 5000],
  );
}

describe('predictions in the form of the platform', () => {
  it('have a document for each input, to which their evaluation refers', async () => {
    await assertKept(await openMemoryStore());
  });

  it('are read as earlier versions wrote them', () => {
    const before = {
      _id: '0123456789abcdef01234567',
      created_at: '2026-11-01T00:00:00.000Z',
      inputid: 'a.jpg',
      inputindex: 0,
      expectedlabel: '',
      features: [],
    };
    const { created_at: createdat, ...rest } = before;
    assert.deepEqual(INPUT_PREDICTION_DOCUMENTS.schema.parse(before), { ...rest, createdat });
  });

  it('are the same in a database', needsServer, async (t) => {
    const uri = newDatabase(t);
    const store = await openMongoStore(uri, { onWarning: () => undefined });
    t.after(() => store.close());
    await assertKept(store);
    await withDatabase(uri, async (database) => {
      const document = await database.collection('evaluation').findOne({});
      const prediction = await database.collection('input_prediction').findOne({});
      assert.ok(prediction?.['createdat'] instanceof Date);
      assert.equal((document?.['input_prediction_ids'] as readonly object[])[0]?.constructor.name, 'ObjectId');
    });
  });
});
