import { fixed, type Network } from '../../builder.js';
import { conv, convNormRelu, maxPool, normReluConv } from '../../convolution.js';
import { resize } from '../../shaping.js';
import { add, chain, identity, imageNetwork, type Layer, repeated, sigmoid } from '../../tensor.js';

const VOLUME_DEPTH = 200;

function block(channels: number): Layer {
  const body = chain(normReluConv(channels / 2, 1), normReluConv(channels / 2, 3), normReluConv(channels, 1));
  return (x) => {
    const shortcut = fixed(x, 1) === channels ? identity(x) : conv(channels, 1, { bias: false })(x);
    return add(body(x), shortcut);
  };
}

function blocks(channels: number, count: number): Layer {
  return repeated(count, block(channels));
}

/** The detour of each level contains the next level. */
function hourglass(channels: number, depth: number): Layer {
  const inner = depth > 1 ? [hourglass(channels, depth - 1), block(channels)] : [];
  const detour = chain(blocks(channels, 3), ...inner);
  const lower = chain(maxPool(2, { stride: 2 }), blocks(channels, depth > 1 ? 6 : 9), resize('nearest', 2));
  return (x) => add(detour(x), lower(x));
}

export function volumetricRegression({ size = 192, width = 64, depth = 4 } = {}): Network {
  const channels = 4 * width;
  const stack = chain(
    hourglass(channels, depth),
    block(channels),
    convNormRelu(channels, 1),
    convNormRelu(channels, 1),
  );
  const refine: Layer = (x) => add(identity(x), stack(x));
  return imageNetwork(
    size,
    convNormRelu(width, 7, { stride: 2, padding: 3 }),
    block(2 * width),
    maxPool(2, { stride: 2 }),
    block(2 * width),
    block(channels),
    refine,
    refine,
    convNormRelu(channels, 1),
    conv(VOLUME_DEPTH, 1),
    resize('linear', 4),
    sigmoid,
  );
}
