import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ModelProto } from '../../src/generated/onnx/onnx.js';
import { layerGraph } from '../../src/onnx/layers/layer-graph.js';
import { sharesOfLayers } from '../../src/onnx/layers/shares-of-layers.js';
import type { Node } from '../../src/onnx/model/model.js';
import { annotatedModel } from '../../src/registry/annotated-model.js';
import { GraphBuilder } from '../plugins/dlbricks/support/graph-builder.js';

const SIDE = [1, 4, 6, 6] as const;

/** Conv, Relu and Softplus of the author; the runtime makes a fused convolution, a change of layout, and Softplus. */
function example() {
  const graph = new GraphBuilder();
  const input = graph.input('float32', [1, 4, 8, 8]);
  const convolved = graph.layer('Conv', [input, graph.weight([4, 4, 3, 3], 36)], SIDE);
  const positive = graph.layer('Relu', [convolved], SIDE);
  const last = graph.layer('Softplus', [positive], SIDE);
  const model = graph.model([last]);
  const kernel = (opType: string, name: string, inputs: string[], outputs: string[], domain = ''): Node => {
    return { name, opType, domain, inputs, outputs, attributes: [] };
  };
  const nchwc = 'com.microsoft.nchwc';
  const kernels = [
    kernel('Conv', `${positive}_nchwc`, [input], ['token'], nchwc),
    kernel('ReorderOutput', 'reorder', ['token'], [positive], nchwc),
    kernel('Softplus', 'softplus', [positive], [last]),
  ];
  return { model, kernels };
}

describe('a model with the times of its layers', () => {
  test('shares a fused kernel by operations, and leaves out changes of layout', () => {
    const { model, kernels } = example();
    const timed = [
      { name: kernels[0]?.name ?? '', latencyMs: 8, share: 0.8 },
      { name: 'reorder', latencyMs: 1, share: 0.1 },
      { name: 'softplus', latencyMs: 1, share: 0.1 },
    ];
    const source = layerGraph(model);
    const shares = sharesOfLayers(source, kernels, timed.map(({ name }) => name)); // prettier-ignore
    const { bytes, unplacedMs } = annotatedModel(model, source, timed, shares);
    assert.ok(Math.abs(unplacedMs - 1) < 1e-9);
    const { graph } = ModelProto.decode(bytes);
    assert.deepEqual(graph?.initializer, []);
    const metadata = (graph?.node ?? []).map(({ metadataProps }) => {
      return new Map(metadataProps.map(({ key, value }) => [key.replace('mlmodelscope.', ''), value]));
    });
    const ms = metadata.map((of) => Number(of.get('time_ms')));
    const outputs = 4 * 6 * 6;
    const convolution = 2 * outputs * 4 * 3 * 3;
    const relu = outputs;
    assert.ok(Math.abs((ms[0] ?? 0) - (8 * convolution) / (convolution + relu)) < 1e-3);
    assert.ok(Math.abs((ms[0] ?? 0) + (ms[1] ?? 0) - 8) < 1e-3);
    assert.equal(ms[2], 1);
    assert.equal(metadata[0]?.get('time_of_fused_kernel_shared_by'), 'operations');
    assert.equal(metadata[2]?.has('time_of_fused_kernel_shared_by'), false);
    assert.equal(metadata[0]?.get('kernels'), kernels[0]?.name);
  });
});
