import { fixed, type Network } from '../../builder.js';
import { batchNorm, conv, deconv, linear } from '../../convolution.js';
import { asImage, channelsFirst, channelsLast, resize } from '../../shaping.js';
import { chain, concat, flatten, imageNetwork, type Layer, plus, relu, sigmoid, softmax, times } from '../../tensor.js';

function convRelu(channels: number, { kernel = 3, stride = 1, dilation = 1 } = {}): Layer {
  return chain(conv(channels, kernel, { stride, dilation, padding: ((kernel - 1) / 2) * dilation }), relu);
}

const norm = batchNorm(1e-4);

function block(channels: number, depth: number, last = {}, others = {}): Layer {
  return chain(...Array.from({ length: depth }, (_, i) => convRelu(channels, i === depth - 1 ? last : others)), norm);
}

export function colorful({ size = 224, width = 64 } = {}): Network {
  const dilated = { dilation: 2 };
  return imageNetwork(
    [1, size, size],
    block(width, 2, { stride: 2 }),
    block(2 * width, 2, { stride: 2 }),
    block(4 * width, 3, { stride: 2 }),
    block(8 * width, 3),
    block(8 * width, 3, dilated, dilated),
    block(8 * width, 3, dilated, dilated),
    block(8 * width, 3),
    deconv(4 * width, 4, { stride: 2, padding: 1 }),
    relu,
    convRelu(4 * width),
    convRelu(4 * width),
    conv(313, 1),
    times(2.606),
    channelsLast,
    softmax,
    channelsFirst,
    conv(2, 1),
    times(0.01),
  );
}

function lowLevel(width: number): Layer {
  return chain(...[1, 2, 2, 4, 4, 8].map((factor, i) => convRelu(factor * width, { stride: i % 2 === 0 ? 2 : 1 })));
}

function globalFeatures(width: number): Layer {
  const convolutions = [2, 1, 2, 1].map((stride) => convRelu(8 * width, { stride }));
  const dense = [16, 8, 4].map((factor) => chain(linear(factor * width), relu));
  return chain(...convolutions, flatten, ...dense);
}

function colors(width: number, fusionKernel: number): Layer {
  return chain(
    convRelu(4 * width, { kernel: fusionKernel }),
    convRelu(2 * width),
    resize('nearest', 2),
    convRelu(width),
    convRelu(width),
    resize('nearest', 2),
    convRelu(width / 2),
    conv(2, 3, { padding: 1 }),
    sigmoid,
    resize('linear', 2),
    times(2),
    plus(-1),
  );
}

export function colornet(fusionKernel: 1 | 3, { size = 224, width = 64 } = {}): Network {
  return imageNetwork([1, size, size], (image) => {
    const local = chain(lowLevel(width), convRelu(8 * width), convRelu(4 * width))(image);
    const global = chain(resize('linear', 1), lowLevel(width), globalFeatures(width))(image);
    const spread = asImage(fixed(local, 2), fixed(local, 3))(global);
    return colors(width, fusionKernel)(concat(1, [local, spread]));
  });
}
