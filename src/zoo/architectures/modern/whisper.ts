import type { Network, Value } from '../../builder.js';
import { conv } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { add, chain, gatherRows, type Layer, matMul, repeated, transpose } from '../../tensor.js';
import { attention, causalBias, dense, gelu, layerNorm, project, type TransformerSize } from '../../transformer.js';

interface WhisperSize extends TransformerSize {
  /** After the convolutions: 1500 are 30 seconds. */
  readonly frames: number;
}

const MEL_BANDS = 80;
const VOCABULARY = 51_865;
const POSITIONS = 448;

const norm = layerNorm(1e-5);

function block(layer: Layer): Layer {
  return (x) => add(x, layer(norm(x)));
}

/** The projection of keys has no bias. */
function attend({ hidden, heads }: WhisperSize, bias?: Value, context?: Value): Layer {
  const projections = [dense(hidden), project(hidden), dense(hidden), dense(hidden)] as const;
  return attention({ heads, bias, context, projections });
}

function feed({ hidden }: WhisperSize): Layer {
  return chain(dense(4 * hidden), gelu, dense(hidden));
}

export function whisperEncoder(size: WhisperSize): Network {
  const { hidden, layers, frames } = size;
  return (graph) => {
    const sound = graph.input('input_features', 'float32', ['batch', MEL_BANDS, 2 * frames]);
    const convolved = chain(
      conv(hidden, 3, { padding: 1 }),
      gelu,
      conv(hidden, 3, { stride: 2, padding: 1 }),
      gelu,
      (x) => transpose(x, [0, 2, 1]),
    )(sound);
    const placed = add(convolved, embedding(graph, [frames, hidden]));
    const blocks = repeated(layers, chain(block(attend(size)), block(feed(size))));
    graph.output('last_hidden_state', chain(blocks, norm)(placed));
  };
}

/** The head's weight is the word table; there is no cache. */
export function whisperDecoder(size: WhisperSize): Network {
  const { hidden, layers, frames } = size;
  return (graph) => {
    const [words, mask, positions] = graph.textInputs();
    const encoded = graph.input('encoder_hidden_states', 'float32', ['batch', frames, hidden]);
    const table = embedding(graph, [VOCABULARY, hidden]);
    const placed = add(gatherRows(table, words), gatherRows(embedding(graph, [POSITIONS, hidden]), positions));
    const bias = causalBias(mask);
    const blocks = repeated(
      layers,
      chain(block(attend(size, bias)), block(attend(size, undefined, encoded)), block(feed(size))),
    );
    const last = chain(blocks, norm)(placed);
    graph.output('logits', matMul(last, graph.tiedWeight('lm_head', [hidden, VOCABULARY], table)));
  };
}

const TINY: WhisperSize = { hidden: 384, layers: 4, heads: 6, frames: 1500 };

const PAPER = 'Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022, arXiv:2212.04356';

const SOURCE =
  'parameters: keras_hub/src/models/whisper/whisper_presets.py, whisper_tiny_multi, 37,760,640 (table 1 of the paper: ' +
  '39M), of which 8,208,384 are in the encoder with its positions and 29,552,256 in the decoder; ' +
  'multiply-accumulates: the matrix products in appendix F of Hoffmann et al., arXiv:2203.15556, and the convolutions';

export const whisperTinyEncoder: ZooEntry = {
  name: 'whisper_tiny_encoder',
  title: 'Whisper-tiny, encoder',
  paper: PAPER,
  parameters: 8_208_384,
  multiplyAccumulates: 18_468_864_000,
  source: SOURCE,
  dimensions: { batch: 1 },
  define: whisperEncoder(TINY),
};

export const whisperTinyDecoder: ZooEntry = {
  name: 'whisper_tiny_decoder',
  title: 'Whisper-tiny, decoder',
  paper: PAPER,
  parameters: 29_552_256,
  multiplyAccumulates: 6_015_860_736,
  source: SOURCE,
  dimensions: { batch: 1, sequence: 128 },
  define: whisperDecoder(TINY),
};
