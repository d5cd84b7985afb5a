import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readModel } from '../../../src/onnx/read/read-model.js';

/** Real models that may lie beside the project; no test needs them. */
const FOLDER = join('..', 'shared', 'models');
const skip = existsSync(FOLDER) ? false : `there is no ${FOLDER}`;

/**
 * The number of stored nodes, and the number of those that do not produce weights, from the table in the folder's
 * README.
 */
const MODELS = [
  { file: 'light_bvlc_alexnet.onnx', stored: 40, layers: 24 },
  { file: 'light_inception_v2.onnx', stored: 916, layers: 509 },
  { file: 'light_resnet50.onnx', stored: 415, layers: 176 },
  { file: 'light_squeezenet.onnx', stored: 105, layers: 66 },
];

describe('graphs that this project did not write', { skip }, () => {
  for (const { file, stored, layers } of MODELS) {
    test(file, async () => {
      const { nodes } = (await readModel(join(FOLDER, file))).graph;
      assert.equal(nodes.length, stored);
      assert.equal(nodes.filter(({ opType }) => opType !== 'ConstantOfShape').length, layers);
    });
  }
});
