import { convNormRelu, maxPool } from '../../convolution.js';
import { chain } from '../../tensor.js';
import { imageClassifier, imageScores, torchvisionClassifier } from '../image-classifier.js';
import { makeBottleneck, stages } from '../resnet.js';

export function resnext(depths: readonly [number, number, number, number], size = 224) {
  return imageClassifier(
    size,
    chain(
      convNormRelu(64, 7, { stride: 2, padding: 3 }),
      maxPool(3, { stride: 2, padding: 1 }),
      stages(makeBottleneck({ expansion: 2, groups: 32 }), 128, depths),
      imageScores,
    ),
  );
}

export const resnext50 = torchvisionClassifier('ResNeXt50_32X4D_Weights', {
  name: 'resnext50_32x4d',
  title: 'ResNeXt-50 32x4d',
  paper: 'Xie et al., Aggregated Residual Transformations for Deep Neural Networks, CVPR 2017, arXiv:1611.05431',
  parameters: 25_028_904,
  multiplyAccumulates: 4_230_000_000,
  define: resnext([3, 4, 6, 3]),
});
