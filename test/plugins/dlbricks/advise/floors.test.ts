import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeFloors } from '../../../../plugins/dlbricks/advise/advice.js';
import type { TimedVariant } from '../../../../plugins/dlbricks/advise/measure-variants.js';
import { layerGraph, type LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { uniformNumbers } from '../support/noise.js';

function chain(length: number): LayerGraph {
  const graph = new GraphBuilder();
  let value = graph.input('float32', [8]);
  for (let layer = 0; layer < length; layer++) value = graph.layer('Relu', [value], [8]);
  return layerGraph(graph.model([value]));
}

/** A variant whose kernels end after these layers, with a time for each. */
function variant(source: LayerGraph, name: string, kernels: readonly (readonly [end: number, ms: number])[]) {
  const layers = kernels.flatMap(([end], at) => {
    const first = source.layers[(kernels[at - 1]?.[0] ?? -1) + 1];
    const last = source.layers[end];
    return first === undefined || last === undefined ? [] : [{ ...last, inputs: first.inputs, outputs: last.outputs }];
  });
  const recipe = {
    name,
    layers: source.layers.length,
    bricks: [],
    sequences: layers.map(() => 0),
    edges: layers.slice(1).map((_, at): [number, number] => [at, at + 1]),
  };
  const made = {
    setting: { name },
    graph: { ...source, layers },
    kernels: { ends: kernels.map(([end]) => end), blocked: layers.map(() => false) },
    prepared: { recipe },
    rounds: [kernels.map(([, ms]) => ms)],
  };
  return made as unknown as TimedVariant;
}

describe('floors', () => {
  test('take each unit from its fastest variant', () => {
    const source = chain(2);
    const one = variant(source, 'one', [
      [0, 1],
      [1, 9],
    ]);
    const other = variant(source, 'other', [
      [0, 9],
      [1, 1],
    ]);
    assert.equal(computeFloors(source, [one]).floor_ms, 10);
    assert.equal(computeFloors(source, [one, other]).floor_ms, 2);
    assert.equal(computeFloors(source, [one, variant(source, 'fused', [[1, 8]])]).floor_ms, 8);
    // The fused variant has no value between the layers, but the two others still have one.
    assert.equal(computeFloors(source, [one, other, variant(source, 'fused', [[1, 8]])]).floor_ms, 2);
    assert.equal(computeFloors(source, [one, other, variant(source, 'fused', [[1, 1.5]])]).floor_ms, 1.5);
  });

  test('are only lowered by one more variant, whatever it fuses', () => {
    const next = uniformNumbers(7);
    for (let round = 0; round < 200; round++) {
      const source = chain(2 + Math.floor(next() * 8));
      const last = source.layers.length - 1;
      const variants = Array.from({ length: 4 }, (_, at) => {
        const ends = source.layers.flatMap((__, layer) => (layer === last || next() < 0.6 ? [layer] : []));
        return variant(
          source,
          `variant ${at}`,
          ends.map((end) => [end, 0.1 + next()] as const),
        );
      });
      for (let count = 1; count < variants.length; count++) {
        const [before, after] = [count, count + 1].map((some) => computeFloors(source, variants.slice(0, some)));
        assert.ok(before !== undefined && after !== undefined);
        assert.ok(after.floor_ms <= before.floor_ms + 1e-9, `round ${round}: ${before.floor_ms} to ${after.floor_ms}`);
        assert.ok((after.floor_with_reorders_ms ?? NaN) <= (before.floor_with_reorders_ms ?? NaN) + 1e-9);
      }
    }
  });
});
