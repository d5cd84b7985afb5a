import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { encodeModel } from '../../src/onnx/write/write-model.js';
import { countMultiplyAccumulates } from './support/multiply-accumulates.js';
import { zooSizes } from './support/zoo-sizes.js';
import { buildZooModel, CLASSICS, zooEntry } from '../../src/zoo/zoo.js';

interface Counts {
  readonly parameters: number;
  /** In units of 10^9, as published; where the source is a formula, exact. */
  readonly gigaMultiplyAccumulates: number;
}

/*
 * torchvision: `num_params` and `_ops` in the `meta` of each model's IMAGENET1K_V1 weights (torchvision/models/*.py, the
 * tables of its documentation show the same). `_ops` counts one for each multiply-accumulate of convolutions and matrix
 * products at batch 1 (test/common_extended_utils.py, get_ops), rounded to 3 decimals.
 */
const PUBLISHED: Readonly<Record<string, Counts>> = {
  alexnet: { parameters: 61_100_840, gigaMultiplyAccumulates: 0.714 }, // torchvision AlexNet_Weights
  vgg16: { parameters: 138_357_544, gigaMultiplyAccumulates: 15.47 }, // torchvision VGG16_Weights
  vgg19: { parameters: 143_667_240, gigaMultiplyAccumulates: 19.632 }, // torchvision VGG19_Weights
  'squeezenet1.1': { parameters: 1_235_496, gigaMultiplyAccumulates: 0.349 }, // torchvision SqueezeNet1_1_Weights
  resnet18: { parameters: 11_689_512, gigaMultiplyAccumulates: 1.814 }, // torchvision ResNet18_Weights
  resnet34: { parameters: 21_797_672, gigaMultiplyAccumulates: 3.664 }, // torchvision ResNet34_Weights
  resnet50: { parameters: 25_557_032, gigaMultiplyAccumulates: 4.089 }, // torchvision ResNet50_Weights
  resnet101: { parameters: 44_549_160, gigaMultiplyAccumulates: 7.801 }, // torchvision ResNet101_Weights
  inception_v1: { parameters: 6_624_904, gigaMultiplyAccumulates: 1.498 }, // torchvision GoogLeNet_Weights
  // torchvision Inception_V3_Weights: 27,161,264 with the auxiliary classifier (class InceptionAux: two convolutions of
  // 768 to 128 by 1x1 and 128 to 768 by 5x5, their batch norms, 768 to 1000 with bias), which inference does not run.
  inception_v3: {
    parameters: 27_161_264 - (768 * 128 + 2 * 128 + 128 * 768 * 5 * 5 + 2 * 768 + 768 * 1000 + 1000),
    gigaMultiplyAccumulates: 5.713,
  },
  densenet121: { parameters: 7_978_856, gigaMultiplyAccumulates: 2.834 }, // torchvision DenseNet121_Weights
  densenet169: { parameters: 14_149_480, gigaMultiplyAccumulates: 3.36 }, // torchvision DenseNet169_Weights
  mobilenet_v2: { parameters: 3_504_872, gigaMultiplyAccumulates: 0.301 }, // torchvision MobileNet_V2_Weights
  vit_b_16: { parameters: 86_567_656, gigaMultiplyAccumulates: 17.564 }, // torchvision ViT_B_16_Weights
  // Parameters of Hugging Face's BertModel with the weights bert-base-uncased; the paper (Devlin et al.) says 110M.
  bert_base: { parameters: 109_482_240, gigaMultiplyAccumulates: (12 * transformerLayer(128) + 768 * 768) / 1e9 },
  // Parameters of Hugging Face's GPT2LMHeadModel with the weights gpt2; OpenAI's release calls it the 124M model.
  gpt2: { parameters: 124_439_808, gigaMultiplyAccumulates: (12 * transformerLayer(128) + 128 * 768 * 50_257) / 1e9 },
  // The same of distilgpt2; its model card says 82 million.
  distilgpt2: {
    parameters: 81_912_576,
    gigaMultiplyAccumulates: (6 * transformerLayer(128) + 128 * 768 * 50_257) / 1e9,
  },
};

/**
 * Multiply-accumulates of one layer of width 768. Source: Hoffmann et al., Training Compute-Optimal Large Language
 * Models, arXiv:2203.15556, appendix F, which counts two operations for each; softmax is left out.
 */
function transformerLayer(sequence: number): number {
  const projections = 3 * sequence * 768 * 768;
  const logits = sequence * sequence * 768;
  const reduction = sequence * sequence * 768;
  const output = sequence * 768 * 768;
  const feedForward = sequence * (768 * 3072 + 3072 * 768);
  return projections + logits + reduction + output + feedForward;
}

/** Half of the last digit that torchvision shows. */
const ROUNDING_GIGA = 0.0005;

describe('the zoo has the published sizes', () => {
  for (const entry of CLASSICS) {
    const { name, parameters, multiplyAccumulates = 0 } = entry;
    const expected = PUBLISHED[name];

    test(`${name}: parameters`, () => {
      assert.equal(zooSizes(entry).parameters, expected?.parameters);
      assert.equal(parameters, expected?.parameters);
    });

    test(`${name}: multiply-accumulates`, () => {
      const giga = zooSizes(entry).multiplyAccumulates / 1e9;
      const difference = Math.abs(giga - (expected?.gigaMultiplyAccumulates ?? 0));
      assert.ok(difference <= ROUNDING_GIGA, `${giga} instead of ${expected?.gigaMultiplyAccumulates}`);
      assert.equal(multiplyAccumulates / 1e9, expected?.gigaMultiplyAccumulates);
    });
  }

  test('work grows with the batch', () => {
    const model = buildZooModel('squeezenet1.1');
    const one = countMultiplyAccumulates(model, { batch: 1 });
    assert.equal(countMultiplyAccumulates(model, { batch: 8 }), 8 * one);
  });

  test('a symbol that is not bound is an error that names it', () => {
    assert.throws(() => countMultiplyAccumulates(buildZooModel('bert_base'), { batch: 1 }), {
      code: 'model',
      message: /zoo:bert_base.*sequence/,
    });
  });

  test('the documentation shows the same numbers', async () => {
    const page = await readFile(new URL('../../../docs/zoo.md', import.meta.url), 'utf8');
    for (const entry of CLASSICS) {
      const { layers, parameters, multiplyAccumulates } = zooSizes(entry);
      const giga = (multiplyAccumulates / 1e9).toFixed(3);
      const megabytes = Math.round(encodeModel(buildZooModel(entry.name)).byteLength / 1e6);
      const words = parameters.toLocaleString('en-US');
      const cells = [`\`zoo:${entry.name}\``, entry.title, layers, words, giga, megabytes];
      const pattern = cells.map((cell) => String(cell).replace(/[.()]/g, '\\$&')).join(' *\\| *');
      assert.match(page, new RegExp(`\\| *${pattern} *\\|`));
    }
  });

  test('every entry cites its paper and its counts', () => {
    for (const name of Object.keys(PUBLISHED)) {
      const { paper, source, title } = zooEntry(name);
      assert.match(paper, /20\d\d/);
      assert.ok(source.length > 0 && title.length > 0);
    }
  });
});
