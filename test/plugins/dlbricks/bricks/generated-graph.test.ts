import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { unknownValues } from '../../../../src/onnx/layers/layer-graph.js';
import { generatedModels } from '../support/generated-graph.js';
import { inferredByRuntime } from '../support/runtime.js';

describe('generated models', () => {
  test('have the types, and the integers from shapes, that the runtime finds', async () => {
    await fc.assert(
      fc.asyncProperty(generatedModels(), async ({ model, inferred }) => {
        const found = await inferredByRuntime(model);

        for (const name of model.graph.nodes.flatMap(({ outputs }) => outputs)) {
          const { elementType, dims } = found.get(name) ?? {};
          assert.deepEqual({ elementType, dims }, model.graph.types.get(name), name);
        }
        for (const [name, { content }] of inferred) {
          assert.deepEqual(Buffer.from(found.get(name)?.content ?? []), Buffer.from(content ?? []), name);
        }
        assert.deepEqual(unknownValues(model), { types: [], contents: [...inferred.keys()] });
      }),
      { numRuns: 50 },
    );
  });
});
