import { conv } from '../../convolution.js';
import { channelsLast } from '../../shaping.js';
import type { Network } from '../../builder.js';
import { imageNetwork } from '../../tensor.js';
import { convolutions } from '../vgg.js';

/** Kim et al., Accurate Image Super-Resolution Using Very Deep Convolutional Networks, arXiv:1511.04587. */
export function superResolution({ size = 255, width = 64 } = {}): Network {
  return imageNetwork([1, size, size], convolutions(width, 19), conv(1, 3, { padding: 1 }), channelsLast);
}
