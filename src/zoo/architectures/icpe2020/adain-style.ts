import { fixed, type Network, type Value } from '../../builder.js';
import { conv, maxPool } from '../../convolution.js';
import { asImage, channelMean, pad, resize } from '../../shaping.js';
import { add, chain, div, type Layer, mul, plus, relu, repeated, sqrt, sub } from '../../tensor.js';

function convolution(channels: number): Layer {
  return chain(pad('reflect', 1, 1), conv(channels, 3));
}

function block(channels: number, depth = 1): Layer {
  return repeated(depth, chain(convolution(channels), relu));
}

const pool = maxPool(2, { stride: 2 });
const enlarge = resize('nearest', 2);

/** VGG-19 up to relu4_1. */
function encoder(width: number): Layer {
  return chain(block(width, 2), pool, block(2 * width, 2), pool, block(4 * width, 4), pool, block(8 * width));
}

function decoder(width: number): Layer {
  return chain(
    block(4 * width),
    enlarge,
    block(4 * width, 3),
    block(2 * width),
    enlarge,
    block(2 * width),
    block(width),
    enlarge,
    block(width),
    convolution(3),
  );
}

function spread(x: Value): Layer {
  return asImage(fixed(x, 2), fixed(x, 3));
}

function mean(x: Value): Value {
  return spread(x)(channelMean(x));
}

function deviation(x: Value): Value {
  const difference = sub(x, mean(x));
  return spread(x)(sqrt(channelMean(mul(difference, difference))));
}

function adaptiveInstanceNorm(content: Value, style: Value): Value {
  const normalized = div(sub(content, mean(content)), plus(1e-6)(deviation(content)));
  return add(mul(normalized, deviation(style)), mean(style));
}

export function adainStyle({ size = 512, width = 64 } = {}): Network {
  return (graph) => {
    const dims = ['batch', 3, size, size];
    const content = graph.input('content', 'float32', dims);
    const style = graph.input('style', 'float32', dims);
    const features = adaptiveInstanceNorm(encoder(width)(content), encoder(width)(style));
    graph.output('output', decoder(width)(features));
  };
}
