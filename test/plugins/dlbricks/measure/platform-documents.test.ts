import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect } from '../../../../src/base/collect.js';
import { keepPlatformDocuments } from '../../../../plugins/dlbricks/measure/platform-documents.js';
import { KnownResults } from '../../../../src/measuring/known-results.js';
import { FIRST_OCCASION, type MeasureSettings, SECOND_OCCASION } from '../../../../plugins/dlbricks/measure/tasks.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Model } from '../../../../src/onnx/model/model.js';
import { EVALUATION_DOCUMENTS } from '../../../../src/platform-documents/documents.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { LIMITS, PROTOCOL, sampleMeasurement, SYSTEM } from '../../../store/sample-measurement.js';
import { loadedChain, preparedChain } from '../support/chain-model.js';

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

/** A model whose first input has these dimensions; without any, it has no input. */
function loaded(dims: readonly number[] | undefined): LoadedModel {
  const { model, ...rest } = loadedChain('chain', 'Relu');
  const [input = assert.fail()] = model.graph.inputs;
  const types = new Map([...model.graph.types, [input, { elementType: 'float32' as const, dims }] as const]);
  const changed: Model = { ...model, graph: { ...model.graph, types, inputs: dims === undefined ? [] : [input] } };
  return { ...rest, model: changed };
}

/** Every evaluation that is kept of a model that was measured on these occasions. */
async function documentsOf(model: LoadedModel, ...occasions: readonly number[]) {
  const prepared = preparedChain('chain', 'Relu');
  const results = new KnownResults();
  for (const occasion of occasions) {
    const measuredAt = `2026-01-02T03:04:0${occasion}.000Z`;
    results.put(sampleMeasurement(0, { signature: prepared.whole.signature, occasion, measuredAt }));
  }
  const store = await openMemoryStore();
  const agent = createFakeAgent({ latencyOf: () => 1 });
  await keepPlatformDocuments([model], [prepared], results, SETTINGS, { store, agent });
  return collect(store.collection(EVALUATION_DOCUMENTS).find({}));
}

/** Their names and batch sizes. */
async function kept(...measured: Parameters<typeof documentsOf>) {
  return (await documentsOf(...measured)).map(({ model: { name }, batch_size: size }) => [name, size]);
}

describe('the platform’s documents of whole models', () => {
  test('are kept for both measurements of a model', async () => {
    assert.deepEqual(await kept(loaded([8, 4]), FIRST_OCCASION, SECOND_OCCASION), [
      ['chain', 8],
      ['chain', 8],
    ]);
  });

  test('are kept for one measurement if the other is missing, and not without measurements', async () => {
    assert.deepEqual(await kept(loaded([8, 4]), SECOND_OCCASION), [['chain', 8]]);
    assert.deepEqual(await kept(loaded([8, 4])), []);
  });

  test('have the version and the framework of the manifest', async () => {
    const manifest = { version: '1.2', framework: { name: 'onnxruntime', version: '^1.20' } };
    const [document] = await documentsOf({ ...loaded([8, 4]), manifest }, FIRST_OCCASION);
    assert.deepEqual(document?.model, { name: 'chain', ...manifest });
  });

  test('have a batch size of 1 where the first input has no batch', async () => {
    assert.deepEqual(await kept(loaded([1, 4]), FIRST_OCCASION), [['chain', 1]]);
    assert.deepEqual(await kept(loaded([0, 4]), FIRST_OCCASION), [['chain', 1]]);
    assert.deepEqual(await kept(loaded([]), FIRST_OCCASION), [['chain', 1]]);
    assert.deepEqual(await kept(loaded(undefined), FIRST_OCCASION), [['chain', 1]]);
  });
});
