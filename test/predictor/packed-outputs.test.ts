import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Brick, cutBrick } from '../../plugins/dlbricks/bricks/brick.js';
import { copyBrick } from '../../plugins/dlbricks/bricks/brick-copies.js';
import { lastUses } from '../../plugins/dlbricks/cut/last-uses.js';
import { buildComposite } from '../../src/composite/composite.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import { buildRunOptions } from '../../src/measurement/system.js';
import { layerGraph } from '../../src/onnx/layers/layer-graph.js';
import { ELEMENT_TYPES, type ElementType } from '../../src/onnx/model/element-type.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { FRAMEWORK_NAMES, FRAMEWORKS } from '../../src/predictor/frameworks.js';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import type { Predictor } from '../../src/predictor/predictor.js';
import { elementsOf } from '../../src/predictor/tensor-value.js';
import { int, model, node, value } from '../onnx/protos.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

const DIMS = [32, 64] as const;
const COPIES = 3;
const OPSETS = { irVersion: 10n, opsetImport: [{ domain: '', version: 21n }] };
const UNOPTIMIZED = { ...buildRunOptions(1), optimizationLevel: 'disabled' } as const;

/** A brick that returns values of the type. */
function narrowing(elementType: ElementType): Brick {
  const file = model(
    {
      input: [value('x', [...DIMS])],
      node: [
        node('Cast', ['x'], ['narrow'], [int('to', ELEMENT_TYPES[elementType].code)]),
        node('Cast', ['narrow'], ['y'], [int('to', ELEMENT_TYPES.float32.code)]),
      ],
      output: [value('y', [...DIMS])],
      valueInfo: [value('narrow', [...DIMS], elementType)],
    },
    OPSETS,
  );
  const graph = layerGraph(parseModel(file, elementType));
  return cutBrick(graph, lastUses(graph), { first: 0, last: 0 });
}

/** The shapes that a graph of shapes returns. */
async function shapesOf(benchmark: Benchmark, predictor: Predictor): Promise<readonly number[]> {
  const open = await openFilledModel(predictor, materialize(benchmark), UNOPTIMIZED, { temporaryFolder: folder });
  const outputs = await open.prepare(makeFeeds(benchmark)).evaluate();
  await open.close();
  return [...outputs.values()].flatMap((output) => Array.from(elementsOf(output) as BigInt64Array, Number));
}

const expected = Array.from({ length: COPIES }, () => DIMS).flat();

// If the values are cast to bytes, some shapes are overwritten: the runtime puts 2,048 bytes into memory of 1,024.
describe('bricks that return values of 4 bits', { timeout: 300_000 }, () => {
  for (const elementType of ['int4', 'uint4'] as const) {
    for (const framework of FRAMEWORK_NAMES) {
      test(`run as copies, and so does the call that is subtracted: ${elementType}, ${framework}`, async () => {
        const predictor = await FRAMEWORKS[framework].load();
        const { benchmark, baseline } = copyBrick(narrowing(elementType), COPIES);
        assert.deepEqual(await shapesOf(benchmark, predictor), expected);
        assert.deepEqual(await shapesOf(baseline, predictor), expected);
      });
    }

    test(`run in a composite: ${elementType}`, async () => {
      const bricks = Array.from({ length: COPIES }, () => narrowing(elementType));
      const { benchmark } = buildComposite(bricks, 0);
      // After all shapes, idle nodes repeat the first shape.
      const shapes = await shapesOf(benchmark, await FRAMEWORKS.onnxruntime.load());
      assert.deepEqual(shapes.slice(0, expected.length), expected);
    });
  }
});
