import { averagePool, branches, conv, convNormRelu, maxPool } from '../../convolution.js';
import { entry, resize } from '../../shaping.js';
import type { Network } from '../../builder.js';
import { add, chain, imageNetwork, type Layer } from '../../tensor.js';

type Kernels = readonly [number, number, number];

const SMALL: Kernels = [3, 5, 7];
const LARGE: Kernels = [3, 7, 11];

/** The paper's figure 4. */
function inception(channels: number, middle: number, kernels: Kernels = SMALL): Layer {
  const branch = (kernel: number): Layer =>
    chain(convNormRelu(middle, 1), convNormRelu(channels, kernel, { padding: (kernel - 1) / 2 }));
  return branches(convNormRelu(channels, 1), ...kernels.map(branch));
}

const enlarge = resize('nearest', 2);

function both(first: Layer, second: Layer): Layer {
  return (x) => add(first(x), second(x));
}

/** From the smallest image outwards; `w` is the narrowest branch's width. */
function hourglass(w: number): Layer {
  const w2 = 2 * w;
  const w4 = 4 * w;
  const halve = averagePool(2, { stride: 2 });
  const bottom = both(
    chain(inception(w4, w2), inception(w4, w2)),
    chain(halve, inception(w4, w2), inception(w4, w2), inception(w4, w2), enlarge),
  );
  const third = both(
    chain(inception(w4, w2), inception(w4, w4, LARGE)),
    chain(halve, inception(w4, w2), inception(w4, w2), bottom, inception(w4, w2), inception(w4, w4, LARGE), enlarge),
  );
  const second = both(
    chain(
      maxPool(2, { stride: 2 }),
      inception(w2, w2),
      inception(w4, w2),
      third,
      inception(w4, w2),
      inception(w2, w2),
      enlarge,
    ),
    chain(inception(w2, w2), inception(w2, w4, LARGE)),
  );
  return both(
    chain(
      maxPool(2, { stride: 2 }),
      inception(w2, w2),
      inception(w2, w2),
      second,
      inception(w2, w4),
      inception(w, w2, LARGE),
      enlarge,
    ),
    inception(w, w4, LARGE),
  );
}

/** Chen et al., Single-Image Depth Perception in the Wild, arXiv:1604.03901. */
export function depthNet({ height = 240, length = 320, width = 16 } = {}): Network {
  return imageNetwork(
    [3, height, length],
    convNormRelu(8 * width, 7, { padding: 3 }),
    hourglass(width),
    conv(1, 3, { padding: 1 }),
    entry(1, 0),
  );
}
