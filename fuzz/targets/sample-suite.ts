import { decomposeModel } from '../../plugins/dlbricks/bricks/unique-bricks.js';
import type { Recipe } from '../../plugins/dlbricks/bricks/recipe.js';
import { copyBrick } from '../../plugins/dlbricks/bricks/brick-copies.js';
import type { Suite } from '../../plugins/dlbricks/exchange/suite.js';
import { layerGraph } from '../../src/onnx/layers/layer-graph.js';
import { GraphBuilder } from '../../test/plugins/dlbricks/support/graph-builder.js';
import { signatureOf } from '../../test/store/sample-measurement.js';

/** A model of four layers as a suite whose bricks are measured in every way, and its recipe. */
export function sampleSuite(): { readonly suite: Suite; readonly recipe: Recipe } {
  const g = new GraphBuilder();
  const x = g.layer('MatMul', [g.input('float32', [1, 4]), g.weight([4, 3], 4)], [1, 3]);
  const y = g.layer('Add', [x, g.layer('Sigmoid', [g.layer('Relu', [x], [1, 3])], [1, 3])], [1, 3]);
  const { recipe, bricks } = decomposeModel('model', layerGraph(g.model([y])), 1);
  const measured = bricks.map((brick, i) => {
    return i === 0
      ? { ...brick, copies: copyBrick(brick, 2) }
      : i === 1
        ? { ...brick, footprintBytes: 2 ** 20 }
        : brick;
  });
  const whole = {
    ...recipe,
    call: signatureOf(1),
    handing_over: { leaving: signatureOf(2), staying: signatureOf(3) },
    footprint_bytes: 2 ** 20,
  };
  return {
    suite: {
      cut: 'layer',
      granularity: 1,
      bricks: measured,
      calls: [{ inputs: 1, outputs: 1 }],
      outputCopies: [[{ elementType: 'float32', dims: [1, 3] }]],
      optimizedFor: {
        framework: 'onnxruntime',
        framework_version: '1.30.0',
        architecture: 'x64',
        processor_features: ['avx2'],
      },
    },
    recipe: { format: 'dlbricks-recipe/2', cut: 'layer', granularity: 1, batch: 1, models: [recipe, whole] },
  };
}
