import { fixed, type GraphBuilder, type Network, type Value } from '../../builder.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { add, chain, gatherRows, type Layer, matMul, mul, relu, repeated, transpose, unsqueeze } from '../../tensor.js';
import { attention, causalBias, hideOthers, maskAsFloat, project, type TransformerSize } from '../../transformer.js';
import { rmsNorm } from './llama.js';

interface T5Size extends TransformerSize {
  readonly feedForward: number;
}

const VOCABULARY = 32_128;
const BUCKETS = 32;

const norm = rmsNorm(1e-6);

/** The paper's section 2.1. */
function distanceBias(buckets: Value, heads: number): Value {
  return transpose(gatherRows(embedding(buckets.graph, [BUCKETS, heads]), buckets), [0, 3, 1, 2]);
}

function block(layer: Layer): Layer {
  return (x) => add(x, layer(norm(x)));
}

function attend(size: T5Size, bias: Value, context?: Value): Layer {
  const square = project(size.hidden);
  return attention({ heads: size.heads, bias, context, projections: [square, square, square, square], scale: 1 });
}

function feed({ hidden, feedForward }: T5Size): Layer {
  return chain(project(feedForward), relu, project(hidden));
}

/** The buckets are an input: else the model would compute them from the shape of the words. */
function addInputs(graph: GraphBuilder): readonly [words: Value, mask: Value, buckets: Value] {
  return [
    graph.input('input_ids', 'int64', ['batch', 'sequence']),
    graph.input('attention_mask', 'int64', ['batch', 'sequence']),
    graph.input('position_buckets', 'int64', ['batch', 'sequence', 'sequence']),
  ];
}

export function t5Encoder(size: T5Size): Network {
  return (graph) => {
    const [words, mask, buckets] = addInputs(graph);
    const hidden = hideOthers(unsqueeze(maskAsFloat(mask), [1, 2]));
    const embedded = gatherRows(embedding(graph, [VOCABULARY, size.hidden]), words);
    const bias = add(distanceBias(buckets, size.heads), hidden);
    const layers = repeated(size.layers, chain(block(attend(size, bias)), block(feed(size))));
    graph.output('last_hidden_state', chain(layers, norm)(embedded));
  };
}

/** The head's weight is the word table; there is no cache. */
export function t5Decoder(size: T5Size): Network {
  return (graph) => {
    const [words, mask, buckets] = addInputs(graph);
    const encoded = graph.input('encoder_hidden_states', 'float32', ['batch', 'encoder_sequence', size.hidden]);
    const encoderMask = graph.input('encoder_attention_mask', 'int64', ['batch', 'encoder_sequence']);
    const table = embedding(graph, [VOCABULARY, size.hidden]);
    const bias = add(distanceBias(buckets, size.heads), causalBias(mask));
    const crossBias = hideOthers(unsqueeze(maskAsFloat(encoderMask), [1, 2]));
    const layers = repeated(
      size.layers,
      chain(block(attend(size, bias)), block(attend(size, crossBias, encoded)), block(feed(size))),
    );
    const last = chain(layers, norm)(gatherRows(table, words));
    const scaled = mul(last, graph.scalar('scale', fixed(last, -1) ** -0.5));
    graph.output('logits', matMul(scaled, graph.tiedWeight('lm_head', [size.hidden, VOCABULARY], table)));
  };
}

const SMALL: T5Size = { hidden: 512, layers: 6, heads: 8, feedForward: 2048 };

const PAPER = 'Raffel et al., Exploring the Limits of Transfer Learning, JMLR 2020, arXiv:1910.10683';

const SOURCE =
  'parameters: keras_hub/src/models/t5/t5_presets.py, t5_small_multi, 60,506,624 (the paper rounds to 60 million), of ' +
  'which T5EncoderModel of t5-small has 35,330,816; both share the word table; multiply-accumulates: the matrix ' +
  'products in appendix F of Hoffmann et al., arXiv:2203.15556';

export const t5SmallEncoder: ZooEntry = {
  name: 't5_small_encoder',
  title: 'T5-small, encoder',
  paper: PAPER,
  parameters: 35_330_816,
  multiplyAccumulates: 2_516_582_400,
  source: SOURCE,
  dimensions: { batch: 1, sequence: 128 },
  define: t5Encoder(SMALL),
};

export const t5SmallDecoder: ZooEntry = {
  name: 't5_small_decoder',
  title: 'T5-small, decoder',
  paper: PAPER,
  parameters: 60_506_624 - 35_330_816 + 32_128 * 512,
  multiplyAccumulates: 5_528_092_672,
  source: SOURCE,
  dimensions: { batch: 1, sequence: 128, encoder_sequence: 128 },
  define: t5Decoder(SMALL),
};
