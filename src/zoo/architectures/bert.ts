import type { GraphBuilder, Value } from '../builder.js';
import { linear } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { embedding } from '../initialization.js';
import { add, chain, div, firstEntry, gatherRows, type Layer, matMul, softmax, tanh, unsqueeze } from '../tensor.js';
import {
  dense,
  gelu,
  hideOthers,
  layerNorm,
  maskAsFloat,
  mergeHeads,
  splitHeads,
  splitKeyHeads,
} from '../transformer.js';

// The paper's section 3, BERT_BASE: L = 12, H = 768, A = 12; the rest from its released configuration.
const LAYERS = 12;
const HIDDEN = 768;
const HEADS = 12;
const FEED_FORWARD = 3072;
const VOCABULARY = 30_522;
const POSITIONS = 512;
const SEGMENTS = 2;

const normalize = layerNorm(1e-12);

function selfAttention(bias: Value): Layer {
  return (x) => {
    const query = splitHeads(dense(HIDDEN)(x), HEADS);
    const key = splitKeyHeads(dense(HIDDEN)(x), HEADS);
    const value = splitHeads(dense(HIDDEN)(x), HEADS);
    const scores = div(matMul(query, key), x.graph.scalar('scale', Math.sqrt(HIDDEN / HEADS)));
    return dense(HIDDEN)(mergeHeads(matMul(softmax(add(scores, bias)), value)));
  };
}

/** Normalization comes after each addition. */
function encoderLayer(bias: Value): Layer {
  return (x) => {
    const attended = normalize(add(selfAttention(bias)(x), x));
    const transformed = chain(dense(FEED_FORWARD), gelu, dense(HIDDEN))(attended);
    return normalize(add(transformed, attended));
  };
}

function define(graph: GraphBuilder): void {
  const dims = ['batch', 'sequence'];
  const words = graph.input('input_ids', 'int64', dims);
  const mask = graph.input('attention_mask', 'int64', dims);
  const segments = graph.input('token_type_ids', 'int64', dims);
  const positions = graph.input('position_ids', 'int64', dims);

  const wordsAndSegments = add(
    gatherRows(embedding(graph, [VOCABULARY, HIDDEN]), words),
    gatherRows(embedding(graph, [SEGMENTS, HIDDEN]), segments),
  );
  const embedded = add(wordsAndSegments, gatherRows(embedding(graph, [POSITIONS, HIDDEN]), positions));
  const bias = hideOthers(unsqueeze(maskAsFloat(mask), [1, 2]));
  const encoder = Array.from({ length: LAYERS }, () => encoderLayer(bias));
  const hidden = chain(normalize, ...encoder)(embedded);

  graph.output('last_hidden_state', hidden);
  graph.output('pooler_output', chain(firstEntry, linear(HIDDEN), tanh)(hidden));
}

/** BERT-base, uncased vocabulary, with the pooler on the first token and without a task's head. */
export const bertBase: ZooEntry = {
  name: 'bert_base',
  title: 'BERT-base',
  paper: 'Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, NAACL 2019, arXiv:1810.04805',
  published: {
    parameters: 109_482_240,
    multiplyAccumulates: 11_174_215_680,
    source:
      'parameters: BertModel of bert-base-uncased (the paper rounds to 110M); multiply-accumulates: the matrix ' +
      'products in appendix F of Hoffmann et al., arXiv:2203.15556, and the pooler',
  },
  dimensions: { batch: 1, sequence: 128 },
  define,
};
