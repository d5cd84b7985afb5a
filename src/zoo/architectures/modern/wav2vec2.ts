import { fixed, type Network } from '../../builder.js';
import { conv } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { instanceNorm } from '../../normalization.js';
import { slice } from '../../shaping.js';
import { add, chain, type Layer, repeated, transpose, unsqueeze } from '../../tensor.js';
import { attention, dense, gelu, layerNorm, type TransformerSize } from '../../transformer.js';

interface Wav2vec2Size extends TransformerSize {
  readonly channels: number;
  /** Samples of sound, 16,000 a second. */
  readonly samples: number;
}

const norm = layerNorm(1e-5);
const swapAxes: Layer = (x) => transpose(x, [0, 2, 1]);

/** The first convolution has a normalization of each channel over time. */
function featureEncoder(channels: number): Layer {
  const convolution = (kernel: number, stride: number): Layer => conv(channels, kernel, { stride, bias: false });
  return chain(
    convolution(10, 5),
    instanceNorm(),
    gelu,
    ...[3, 3, 3, 3, 2, 2].flatMap((kernel) => [convolution(kernel, 2), gelu]),
  );
}

/** By a convolution, whose even kernel gives one frame too many. */
const withPositions: Layer = (x) => {
  const hidden = fixed(x, 2);
  const convolve = conv(hidden, 128, { padding: 64, groups: 16 });
  return add(x, chain(swapAxes, convolve, slice(2, 0, fixed(x, 1)), gelu, swapAxes)(x));
};

export function wav2vec2(size: Wav2vec2Size): Network {
  const { hidden, layers, heads, channels, samples } = size;
  const attend: Layer = (x) => norm(add(attention({ heads })(x), x));
  const feed: Layer = (x) => norm(add(chain(dense(4 * hidden), gelu, dense(hidden))(x), x));
  return (graph) => {
    const sound = graph.input('input_values', 'float32', ['batch', samples]);
    const encoded = chain(
      featureEncoder(channels),
      swapAxes,
      norm,
      dense(hidden),
      withPositions,
      norm,
    )(unsqueeze(sound, [1]));
    const blocks = repeated(layers, chain(attend, feed));
    graph.output('last_hidden_state', chain(blocks)(encoded));
  };
}

export const wav2vec2Base: ZooEntry = {
  name: 'wav2vec2_base',
  title: 'wav2vec 2.0 base',
  paper: 'Baevski et al., wav2vec 2.0, NeurIPS 2020, arXiv:2006.11477',
  // Without the mask of training (768), and with the 128 factors of one convolution multiplied into its weight.
  parameters: 94_371_712 - 768 - 128,
  multiplyAccumulates: 6_911_374_336,
  source:
    'parameters: Wav2Vec2Model of facebook/wav2vec2-base, 94,371,712 (the paper rounds to 95M), of which 768 are a mask ' +
    'of training and 128 are multiplied into a weight; multiply-accumulates: the matrix products in appendix F of ' +
    'Hoffmann et al., arXiv:2203.15556, and the convolutions',
  dimensions: { batch: 1 },
  define: wav2vec2({ hidden: 768, layers: 12, heads: 12, channels: 512, samples: 16_000 }),
};
