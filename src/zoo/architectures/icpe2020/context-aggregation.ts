import { conv, maxPool } from '../../convolution.js';
import { channelsLast } from '../../shaping.js';
import { chain, dropout, imageNetwork, type Layer, relu, softmax } from '../../tensor.js';
import type { Network } from '../../builder.js';
import { convolutions } from '../vgg.js';

const pool = maxPool(2, { stride: 2 });

function dense(channels: number, kernel: number, dilation: number): Layer {
  return chain(conv(channels, kernel, { dilation }), relu, dropout);
}

/** Yu and Koltun, Multi-Scale Context Aggregation by Dilated Convolutions, arXiv:1511.07122, on pictures of CamVid. */
export function contextAggregation({ height = 900, length = 1100, width = 64 } = {}): Network {
  const labels = 11;
  return imageNetwork(
    [3, height, length],
    convolutions(width, 2, {}),
    pool,
    convolutions(2 * width, 2, {}),
    pool,
    convolutions(4 * width, 3, {}),
    pool,
    convolutions(8 * width, 3, {}),
    convolutions(8 * width, 3, { dilation: 2 }),
    dense(64 * width, 7, 4),
    dense(64 * width, 1, 1),
    conv(labels, 1),
    // The paper's table 1; the image keeps its size.
    ...[1, 1, 2, 4, 8, 16, 1].map((dilation) => chain(conv(labels, 3, { padding: dilation, dilation }), relu)),
    conv(labels, 1),
    channelsLast,
    softmax,
  );
}
