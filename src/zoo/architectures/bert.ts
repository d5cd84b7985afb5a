import type { Network, Value } from '../builder.js';
import { linear } from '../convolution.js';
import { HOFFMANN, type ZooEntry } from '../entry.js';
import { embedding } from '../initialization.js';
import { entry } from '../shaping.js';
import { add, chain, div, gatherRows, type Layer, matMul, repeated, softmax, tanh, unsqueeze } from '../tensor.js';
import {
  dense,
  gelu,
  hideOthers,
  layerNorm,
  maskAsFloat,
  mergeHeads,
  splitHeads,
  splitKeyHeads,
  type TransformerSize,
} from '../transformer.js';

export interface BertSize extends TransformerSize {
  /** DistilBERT has neither segments nor a pooler. */
  readonly hasSegments: boolean;
}

const VOCABULARY = 30_522;
const POSITIONS = 512;
const SEGMENTS = 2;

const normalize = layerNorm(1e-12);

function selfAttention({ hidden, heads }: BertSize, bias: Value): Layer {
  return (x) => {
    const query = splitHeads(dense(hidden)(x), heads);
    const key = splitKeyHeads(dense(hidden)(x), heads);
    const value = splitHeads(dense(hidden)(x), heads);
    const scores = div(matMul(query, key), x.graph.scalar('scale', Math.sqrt(hidden / heads)));
    return dense(hidden)(mergeHeads(matMul(softmax(add(scores, bias)), value)));
  };
}

function encoderLayer(size: BertSize, bias: Value): Layer {
  return (x) => {
    const attended = normalize(add(selfAttention(size, bias)(x), x));
    const transformed = chain(dense(4 * size.hidden), gelu, dense(size.hidden))(attended);
    return normalize(add(transformed, attended));
  };
}

export function bert(size: BertSize): Network {
  const { layers, hidden, hasSegments } = size;
  return (graph) => {
    const dims = ['batch', 'sequence'];
    const words = graph.input('input_ids', 'int64', dims);
    const mask = graph.input('attention_mask', 'int64', dims);
    const segments = hasSegments ? graph.input('token_type_ids', 'int64', dims) : undefined;
    const positions = graph.input('position_ids', 'int64', dims);

    const ofWords = gatherRows(embedding(graph, [VOCABULARY, hidden]), words);
    const wordsAndSegments =
      segments === undefined ? ofWords : add(ofWords, gatherRows(embedding(graph, [SEGMENTS, hidden]), segments));
    const embedded = add(wordsAndSegments, gatherRows(embedding(graph, [POSITIONS, hidden]), positions));
    const bias = hideOthers(unsqueeze(maskAsFloat(mask), [1, 2]));
    const encoder = repeated(layers, encoderLayer(size, bias));
    const encoded = chain(normalize, encoder)(embedded);

    graph.output('last_hidden_state', encoded);
    if (hasSegments) graph.output('pooler_output', chain(entry(1, 0), linear(hidden), tanh)(encoded));
  };
}

const PAPER = 'Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, NAACL 2019, arXiv:1810.04805';

/** Of github.com/keras-team/keras-hub. */
function presets(family: string): string {
  return `parameters: keras_hub/src/models/${family}/${family}_presets.py`;
}

/** With the pooler on the first token and without a task's head. */
export const bertBase: ZooEntry = {
  name: 'bert_base',
  title: 'BERT-base',
  paper: PAPER,
  parameters: 109_482_240,
  multiplyAccumulates: 11_174_215_680,
  source: `${presets('bert')}, bert_base_en_uncased (the paper rounds to 110M); ${HOFFMANN}, and the pooler`,
  dimensions: { batch: 1, sequence: 128 },
  define: bert({ layers: 12, hidden: 768, heads: 12, hasSegments: true }),
};

export const bertLarge: ZooEntry = {
  name: 'bert_large',
  title: 'BERT-large',
  paper: PAPER,
  parameters: 335_141_888,
  multiplyAccumulates: 39_461_060_608,
  source: `${presets('bert')}, bert_large_en_uncased (the paper rounds to 340M); ${HOFFMANN}, and the pooler`,
  dimensions: { batch: 1, sequence: 128 },
  define: bert({ layers: 24, hidden: 1024, heads: 16, hasSegments: true }),
};

/** Every second layer of BERT-base, without segments and pooler. */
export const distilbert: ZooEntry = {
  name: 'distilbert',
  title: 'DistilBERT',
  paper: 'Sanh et al., DistilBERT, a distilled version of BERT, 2019, arXiv:1910.01108',
  parameters: 66_362_880,
  multiplyAccumulates: 5_586_812_928,
  source: `${presets('distil_bert')}, distil_bert_base_en_uncased (the paper rounds to 66M); ${HOFFMANN}`,
  dimensions: { batch: 1, sequence: 128 },
  define: bert({ layers: 6, hidden: 768, heads: 12, hasSegments: false }),
};
