import { convNormRelu, maxPool } from '../../convolution.js';
import { type Depths, makeBottleneck, stages } from '../resnet.js';
import { imageNetwork } from '../../tensor.js';
import { imageScores, torchvisionClassifiers } from '../torchvision.js';

export function resnext(depths: Depths, size = 224) {
  return imageNetwork(
    size,
    convNormRelu(64, 7, { stride: 2, padding: 3 }),
    maxPool(3, { stride: 2, padding: 1 }),
    stages(makeBottleneck({ expansion: 2, groups: 32 }), 128, depths),
    imageScores,
  );
}

const network = resnext([3, 4, 6, 3]);

export const RESNEXT = torchvisionClassifiers(
  'Xie et al., Aggregated Residual Transformations for Deep Neural Networks, CVPR 2017, arXiv:1611.05431',
  ['resnext50_32x4d', 'ResNeXt-50 32x4d', 'ResNeXt50_32X4D_Weights', 25_028_904, 4_230_000_000, network],
);
