import { fixed } from '../../builder.js';
import { branches, conv, convNormRelu, globalAveragePool, maxPool } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { resize } from '../../shaping.js';
import { chain, dropout, imageNetwork, type Layer, repeated } from '../../tensor.js';
import { type Block, type Depths, makeBottleneck } from '../resnet.js';

/** Dilation replaces a stride, from the second block of a stage on. */
function stage(width: number, depth: number, stride: number, dilations: readonly [number, number]): Layer {
  const [first, others] = dilations.map((dilation) => makeBottleneck({ dilation })) as [Block, Block];
  return chain(first(width, stride), repeated(depth - 1, others(width, 1)));
}

/** The paper's figure 5. */
const pyramid: Layer = (x) => {
  const rates = [12, 24, 36].map((dilation) => convNormRelu(256, 3, { dilation, padding: dilation }));
  const pooled = chain(globalAveragePool, convNormRelu(256, 1), resize('linear', fixed(x, 2)));
  return chain(branches(convNormRelu(256, 1), ...rates, pooled), convNormRelu(256, 1), dropout)(x);
};

export function deeplabV3(depths: Depths, size: number, width = 64): Layer {
  return chain(
    convNormRelu(width, 7, { stride: 2, padding: 3 }),
    maxPool(3, { stride: 2, padding: 1 }),
    stage(width, depths[0], 1, [1, 1]),
    stage(2 * width, depths[1], 2, [1, 1]),
    stage(4 * width, depths[2], 1, [1, 2]),
    stage(8 * width, depths[3], 1, [2, 4]),
    pyramid,
    convNormRelu(256, 3, { padding: 1 }),
    conv(21, 1),
    (x) => resize('linear', size / fixed(x, 2))(x),
  );
}

/** Without the auxiliary classifier. */
export const deeplabV3Resnet50: ZooEntry = {
  name: 'deeplabv3_resnet50',
  title: 'DeepLab v3, ResNet-50',
  paper: 'Chen et al., Rethinking Atrous Convolution for Semantic Image Segmentation, 2017, arXiv:1706.05587',
  parameters: 42_004_074 - (1024 * 256 * 9 + 2 * 256 + 256 * 21 + 21),
  multiplyAccumulates: 178_722_000_000 - 65 * 65 * (1024 * 256 * 9 + 256 * 21),
  source:
    'torchvision DeepLabV3_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1: num_params, _ops, less those of the auxiliary ' +
    'classifier (class FCNHead: two convolutions, of which one has a normalization)',
  dimensions: { batch: 1 },
  define: imageNetwork(520, deeplabV3([3, 4, 6, 3], 520)),
};
