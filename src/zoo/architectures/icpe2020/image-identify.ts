import { averagePool, branches, convNormRelu, maxPool } from '../../convolution.js';
import { classes } from './classes.js';
import type { Network } from '../../builder.js';
import { chain, flatten, imageNetwork, type Layer } from '../../tensor.js';

function convolution(channels: number, kernel = 1, stride = 1): Layer {
  return convNormRelu(channels, kernel, { stride, padding: (kernel - 1) / 2, epsilon: 1.00001e-5 });
}

interface Widths {
  readonly one: number;
  readonly three: readonly [number, number];
  readonly double: readonly [number, number];
  readonly projection: number;
}

/** Ioffe and Szegedy, arXiv:1502.03167, figure 5. */
function inception({ one, three, double, projection }: Widths, pool: 'average' | 'max' = 'average'): Layer {
  const smooth = pool === 'average' ? averagePool(3, { padding: 1 }) : maxPool(3, { padding: 1 });
  return branches(
    convolution(one),
    chain(convolution(three[0]), convolution(three[1], 3)),
    chain(convolution(double[0]), convolution(double[1], 3), convolution(double[1], 3)),
    chain(smooth, convolution(projection)),
  );
}

function reduction(three: readonly [number, number], double: readonly [number, number]): Layer {
  return branches(
    chain(convolution(three[0]), convolution(three[1], 3, 2)),
    chain(convolution(double[0]), convolution(double[1], 3), convolution(double[1], 3, 2)),
    maxPool(3, { stride: 2, padding: 1 }),
  );
}

/** Wolfram's ImageIdentify. */
export function imageIdentify(size = 224): Network {
  return imageNetwork(
    size,
    convolution(64, 7, 2),
    maxPool(3, { stride: 2 }),
    convolution(64),
    convolution(192, 3),
    maxPool(3, { stride: 2 }),
    inception({ one: 64, three: [64, 64], double: [64, 96], projection: 32 }), // 3a
    inception({ one: 64, three: [64, 96], double: [64, 96], projection: 64 }), // 3b
    reduction([128, 160], [64, 96]), // 3c
    inception({ one: 224, three: [64, 96], double: [96, 128], projection: 128 }), // 4a
    inception({ one: 192, three: [96, 128], double: [96, 128], projection: 128 }), // 4b
    inception({ one: 160, three: [128, 160], double: [128, 160], projection: 128 }), // 4c
    inception({ one: 96, three: [128, 192], double: [160, 192], projection: 128 }), // 4d
    reduction([128, 192], [192, 256]), // 4e
    inception({ one: 352, three: [192, 320], double: [160, 224], projection: 128 }), // 5a
    inception({ one: 352, three: [192, 320], double: [192, 224], projection: 128 }, 'max'), // 5b
    averagePool(size / 32),
    flatten,
    classes(4315),
  );
}
