import { averagePool, conv } from '../../convolution.js';
import { reshapeTo } from '../../shaping.js';
import { imageNetwork, softmax } from '../../tensor.js';
import type { Network } from '../../builder.js';
import { mobilenetV2Features } from '../mobilenet-v2.js';

/** 1.4 times as wide as the paper's table 2, rounded to multiples of eight. */
const CHANNELS = { first: 48, rows: [24, 32, 48, 88, 136, 224, 448], last: 1792 };

const STRIDED = { before: 0, after: 2 };

export function mobilenetV2(size = 224): Network {
  const features = mobilenetV2Features(CHANNELS, STRIDED);
  return imageNetwork(size, features, averagePool(size / 32), conv(1001, 1), reshapeTo(1001), softmax);
}
