import type { Network, Value } from '../builder.js';
import { HOFFMANN, type ZooEntry } from '../entry.js';
import { embedding } from '../initialization.js';
import { add, chain, div, gatherRows, type Layer, matMul, repeated, softmax, split } from '../tensor.js';
import { causalBias, dense, geluTanh, layerNorm, mergeHeads, splitHeads, splitKeyHeads } from '../transformer.js';

const HIDDEN = 768;
const HEADS = 12;
const VOCABULARY = 50_257;
const POSITIONS = 1024;

const normalize = layerNorm(1e-5);

function selfAttention(bias: Value): Layer {
  return (x) => {
    const [query, key, value] = split(dense(3 * HIDDEN)(x), 3) as [Value, Value, Value];
    const product = matMul(splitHeads(query, HEADS), splitKeyHeads(key, HEADS));
    const scores = div(product, x.graph.scalar('scale', Math.sqrt(HIDDEN / HEADS)));
    return dense(HIDDEN)(mergeHeads(matMul(softmax(add(scores, bias)), splitHeads(value, HEADS))));
  };
}

function decoderLayer(bias: Value): Layer {
  return (x) => {
    const attended = add(selfAttention(bias)(normalize(x)), x);
    return add(attended, chain(normalize, dense(4 * HIDDEN), geluTanh, dense(HIDDEN))(attended));
  };
}

/** The head's weight is the word table; there is no key-value cache. */
function buildDecoder(layers: number): Network {
  return (graph) => {
    const [words, mask, positions] = graph.textInputs();

    const wordTable = embedding(graph, [VOCABULARY, HIDDEN]);
    const embedded = add(gatherRows(wordTable, words), gatherRows(embedding(graph, [POSITIONS, HIDDEN]), positions));
    const bias = causalBias(mask);
    const decoder = repeated(layers, decoderLayer(bias));
    const hidden = chain(decoder, normalize)(embedded);

    graph.output('logits', matMul(hidden, graph.tiedWeight('lm_head', [HIDDEN, VOCABULARY], wordTable)));
  };
}

export const gpt2: ZooEntry = {
  name: 'gpt2',
  title: 'GPT-2 small',
  paper: 'Radford et al., Language Models are Unsupervised Multitask Learners, OpenAI, 2019',
  parameters: 124_439_808,
  multiplyAccumulates: 16_114_089_984,
  source: `parameters: GPT2LMHeadModel of gpt2 (the released "124M" model); ${HOFFMANN}`,
  dimensions: { batch: 1, sequence: 128 },
  define: buildDecoder(12),
};

/** Every second layer of GPT-2 small. */
export const distilgpt2: ZooEntry = {
  name: 'distilgpt2',
  title: 'DistilGPT2',
  paper: 'Sanh et al., DistilBERT, a distilled version of BERT, 2019, arXiv:1910.01108',
  parameters: 81_912_576,
  multiplyAccumulates: 10_527_277_056,
  source: `parameters: GPT2LMHeadModel of distilgpt2 ("82M"); ${HOFFMANN}`,
  dimensions: { batch: 1, sequence: 128 },
  define: buildDecoder(6),
};
