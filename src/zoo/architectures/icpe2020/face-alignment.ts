import { fixed, type Network, type Value } from '../../builder.js';
import { averagePool, conv, convNormRelu, normReluConv } from '../../convolution.js';
import { resize } from '../../shaping.js';
import { add, chain, concat, identity, imageNetwork, type Layer } from '../../tensor.js';

const LANDMARKS = 68;

/** Bulat and Tzimiropoulos, arXiv:1703.00862, figure 3. */
function block(channels: number): Layer {
  const inner: Layer = (x) => concat(1, [identity(x), normReluConv(channels / 4, 3)(x)]);
  const outer: Layer = (x) => concat(1, [identity(x), inner(normReluConv(channels / 4, 3)(x))]);
  return (x) => {
    const body = outer(normReluConv(channels / 2, 3)(x));
    const shortcut = fixed(x, 1) === channels ? identity(x) : normReluConv(channels, 1)(x);
    return add(body, shortcut);
  };
}

const halve = averagePool(2, { stride: 2 });

function hourglass(channels: number, depth: number): Layer {
  const inner = depth > 1 ? hourglass(channels, depth - 1) : block(channels);
  const lower = chain(halve, block(channels), inner, block(channels), resize('nearest', 2));
  return (x) => add(block(channels)(x), lower(x));
}

export function faceAlignment({ size = 256, width = 64, stacks = 4 } = {}): Network {
  const channels = 4 * width;
  const stem = chain(
    convNormRelu(width, 7, { stride: 2, padding: 3 }),
    block(2 * width),
    halve,
    block(2 * width),
    block(channels),
  );
  const features = chain(hourglass(channels, 4), block(channels), convNormRelu(channels, 1));
  return imageNetwork(size, (image) => {
    let input: Value = stem(identity(image));
    for (let stack = 1; ; stack++) {
      const seen = features(input);
      const heatmaps = conv(LANDMARKS, 1)(seen);
      if (stack === stacks) return heatmaps;
      input = input.graph.apply('Sum', [input, conv(channels, 1)(seen), conv(channels, 1)(heatmaps)], input);
    }
  });
}
