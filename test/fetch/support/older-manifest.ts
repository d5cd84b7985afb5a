import { createHash } from 'node:crypto';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';

/** y = relu(x) for batches of pairs. */
export const TINY_GRAPH = encodeModelToBytes({
  source: 'test',
  irVersion: 8,
  opsets: new Map([['', 17]]),
  graph: {
    name: 'test',
    nodes: [{ name: 'relu', opType: 'Relu', domain: '', inputs: ['x'], outputs: ['y'], attributes: [] }],
    inputs: ['x'],
    outputs: ['y'],
    initializers: new Map(),
    types: new Map([['x', { elementType: 'float32', dims: ['batch', 2] }]]),
  },
});

export function md5(content: Uint8Array | string): string {
  return createHash('md5').update(content).digest('hex');
}

/**
 * A manifest in the style of the platform's repositories.
 *
 * @param model the lines under its key `model`
 * @param version the version constraint on ONNX Runtime
 */
export function olderManifest(model: string, version = '>=1.0.0', name = 'Tiny-Net v1'): string {
  return `name: ${name} # name of your model
framework:
    name: Onnxruntime
    version: "${version}" # framework version constraint
version: 1.0 # version information in semantic version format
description: >
    A tiny network.
references: # references to papers / websites
    - https://example.org/paper
license: unrestricted
inputs:
    - type: general
      description: pairs of numbers
      parameters:
          element_type: float32
          input_layer: x
          dimensions: [-1, 2]
output:
    type: classification
    description: the output label
    parameters:
        element_type: float32
        probabilities_layer: y
model:
${model}
attributes:
    kind: CNN
    manifest_author: nobody
`;
}
