import { int, ints } from '../../../onnx/model/make-attributes.js';
import type { Dimension } from '../../../onnx/model/model.js';
import { dimension, fixed, type Network, type Value } from '../../builder.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { quantizedMatMul } from '../../quantized.js';
import { entry, expand, slice } from '../../shaping.js';
import {
  add,
  chain,
  concat,
  div,
  gatherRows,
  type Layer,
  matMul,
  mul,
  neg,
  pow,
  silu,
  softmax,
  sqrt,
  transpose,
  unsqueeze,
} from '../../tensor.js';
import {
  causalBias,
  hideOthers,
  maskAsFloat,
  mergeHeads,
  prenormed,
  project,
  splitHeads,
  type TransformerSize,
} from '../../transformer.js';

/** Grouped-query attention, rotary embedding, RMSNorm and SwiGLU. */
export interface LlamaSize extends TransformerSize {
  readonly keyValueHeads: number;
  readonly feedForward: number;
  readonly vocabulary: number;
  /** Whether the head's weight is the word table. */
  readonly tied: boolean;
}

type Precision = 'float32' | 'int4';

/** The whole prompt at once, or one token after a cache of keys and values. Both output the cache with the new ones. */
type Phase = 'prefill' | 'decode';

const ROPE_BASE = 500_000;
const EPSILON = 1e-5;

/**
 * Zhang and Sennrich, Root Mean Square Layer Normalization, arXiv:1910.07467, in the operators that exporters write.
 */
export function rmsNorm(epsilon: number): Layer {
  return (x) => {
    const { graph } = x;
    const square = pow(x, graph.scalar('two', 2));
    const mean = graph.apply('ReduceMean', [square], x.dims.with(-1, 1), [ints('axes', [-1]), int('keepdims', 1)]);
    const inverse = div(graph.scalar('one', 1), sqrt(add(mean, graph.scalar('epsilon', epsilon))));
    return mul(graph.weight('scale', [fixed(x, -1)], 0.9, 1.1), mul(x, inverse));
  };
}

/** Su et al., RoFormer, arXiv:2104.09864: [batch, 1, sequence, head size]. */
function computeRotation(positions: Value, headSize: number) {
  const { graph } = positions;
  const frequencies = Array.from({ length: headSize / 2 }, (_, i) => ROPE_BASE ** ((-2 * i) / headSize));
  const angles = mul(unsqueeze(maskAsFloat(positions), [2]), graph.floats('frequencies', frequencies));
  const both = unsqueeze(concat(2, [angles, angles]), [1]);
  return { cos: graph.apply('Cos', [both], both), sin: graph.apply('Sin', [both], both) };
}

function rotate(x: Value, { cos, sin }: ReturnType<typeof computeRotation>): Value {
  const size = fixed(x, 3);
  const turned = concat(3, [neg(slice(3, size / 2, size)(x)), slice(3, 0, size / 2)(x)]);
  return add(mul(x, cos), mul(turned, sin));
}

/** [batch, heads, context, head size]. */
function shared(x: Value, heads: number): Value {
  const keyValueHeads = fixed(x, 1);
  const size = fixed(x, 3);
  if (keyValueHeads === heads) return x;
  const repeated = expand(unsqueeze(x, [2]), [1, 1, heads / keyValueHeads, 1, 1]);
  const dims: Dimension[] = [dimension(x, 0), heads, dimension(x, 2), size];
  const shape = x.graph.integers('shape', [0, heads, -1, size]);
  return x.graph.apply('Reshape', [repeated, shape], dims);
}

function appended(past: Value, now: Value): Value {
  const dims = past.dims.with(2, `${dimension(past, 2)} + ${dimension(now, 2)}`);
  return past.graph.apply('Concat', [past, now], dims, [int('axis', 2)]);
}

export function llamaDecoder(size: LlamaSize, phase: Phase, precision: Precision): Network {
  const { hidden, layers, heads, keyValueHeads, feedForward, vocabulary, tied } = size;
  const headSize = hidden / heads;
  const linear = (features: number): Layer =>
    precision === 'int4' ? (x) => quantizedMatMul(x, features) : project(features);

  return (graph) => {
    const length = phase === 'prefill' ? 'sequence' : 1;
    const context = phase === 'prefill' ? 'sequence' : 'past + 1';
    const words = graph.input('input_ids', 'int64', ['batch', length]);
    const mask = graph.input('attention_mask', 'int64', ['batch', context]);
    const positions = graph.input('position_ids', 'int64', ['batch', length]);
    const pastOf = (role: string, layer: number): Value =>
      graph.input(`past_${role}_${layer}`, 'float32', ['batch', keyValueHeads, 'past', headSize]);

    const table = embedding(graph, [vocabulary, hidden]);
    const rotation = computeRotation(positions, headSize);
    const bias = phase === 'prefill' ? causalBias(mask) : hideOthers(unsqueeze(maskAsFloat(mask), [1, 2]));

    const attention =
      (layer: number): Layer =>
      (x) => {
        const query = rotate(splitHeads(linear(hidden)(x), heads), rotation);
        const newKey = rotate(splitHeads(linear(keyValueHeads * headSize)(x), keyValueHeads), rotation);
        const newValue = splitHeads(linear(keyValueHeads * headSize)(x), keyValueHeads);
        const key = phase === 'prefill' ? newKey : appended(pastOf('key', layer), newKey);
        const value = phase === 'prefill' ? newValue : appended(pastOf('value', layer), newValue);
        graph.output(`present_key_${layer}`, key);
        graph.output(`present_value_${layer}`, value);
        const product = matMul(query, transpose(shared(key, heads), [0, 1, 3, 2]));
        const scores = mul(product, graph.scalar('scale', headSize ** -0.5));
        return linear(hidden)(mergeHeads(matMul(softmax(add(scores, bias)), shared(value, heads))));
      };
    const feed: Layer = (x) => linear(hidden)(mul(silu(linear(feedForward)(x)), linear(feedForward)(x)));
    const norm = rmsNorm(EPSILON);
    const blocks = Array.from({ length: layers }, (_, layer) =>
      chain(prenormed(norm, attention(layer)), prenormed(norm, feed)),
    );
    const last = chain(...blocks, norm, entry(1, -1))(gatherRows(table, words));
    graph.output('logits', head(last, table, { vocabulary, tied, precision }));
  };
}

interface Head extends Pick<LlamaSize, 'vocabulary' | 'tied'> {
  readonly precision: Precision;
}

function head(x: Value, table: Value, { vocabulary, tied, precision }: Head): Value {
  const hidden = fixed(x, -1);
  if (precision === 'int4') return quantizedMatMul(x, vocabulary, tied ? table : undefined);
  if (tied) return matMul(x, x.graph.tiedWeight('lm_head', [hidden, vocabulary], table));
  return project(vocabulary)(x);
}

const LLAMA3 = 'Grattafiori et al., The Llama 3 Herd of Models, arXiv:2407.21783, 2024';

/** Sizes are from model cards, parameters from files. */
const RELEASED = [
  {
    name: 'llama_0.1b',
    title: 'SmolLM2-135M',
    paper: 'Ben Allal et al., SmolLM2: When Smol Goes Big, arXiv:2502.02737, 2025',
    parameters: 134_515_008,
    size: { hidden: 576, layers: 30, heads: 9, keyValueHeads: 3, feedForward: 1536, vocabulary: 49_152, tied: true },
  },
  {
    name: 'llama_1b',
    title: 'Llama 3.2 1B',
    paper: LLAMA3,
    parameters: 1_235_814_400,
    size: { hidden: 2048, layers: 16, heads: 32, keyValueHeads: 8, feedForward: 8192, vocabulary: 128_256, tied: true },
  },
  {
    name: 'llama_3b',
    title: 'Llama 3.2 3B',
    paper: LLAMA3,
    parameters: 3_212_749_824,
    size: { hidden: 3072, layers: 28, heads: 24, keyValueHeads: 8, feedForward: 8192, vocabulary: 128_256, tied: true },
  },
  {
    name: 'llama_8b',
    title: 'Llama 3.1 8B',
    paper: LLAMA3,
    parameters: 8_030_261_248,
    size: {
      hidden: 4096,
      layers: 32,
      heads: 32,
      keyValueHeads: 8,
      feedForward: 14_336,
      vocabulary: 128_256,
      tied: false,
    },
  },
];

/**
 * Of the layers' matrices, attention over the whole context, and the head for one token. Source: Hoffmann et al.,
 * arXiv:2203.15556, appendix F, with fewer heads of keys and values and three matrices in the feed-forward network.
 */
function multiplyAccumulates(size: LlamaSize, tokens: number, context: number): number {
  const { hidden, layers, heads, keyValueHeads, feedForward, vocabulary } = size;
  const projections = 2 * hidden * hidden + 2 * hidden * ((hidden * keyValueHeads) / heads);
  const perToken = projections + 3 * hidden * feedForward + 2 * context * hidden;
  return layers * tokens * perToken + hidden * vocabulary;
}

const PROMPT = 128;

export const LLAMAS: readonly ZooEntry[] = RELEASED.flatMap(({ name, title, paper, parameters, size }) =>
  (['float32', 'int4'] as const).flatMap((precision) =>
    (['prefill', 'decode'] as const).map((phase): ZooEntry => {
      const isPrefill = phase === 'prefill';
      return {
        name: `${name}_${precision === 'int4' ? 'int4_' : ''}${phase}`,
        title: `${title}, ${isPrefill ? 'prompt' : 'one token'}, ${precision}`,
        paper,
        parameters,
        multiplyAccumulates: isPrefill
          ? multiplyAccumulates(size, PROMPT, PROMPT)
          : multiplyAccumulates(size, 1, PROMPT + 1),
        source:
          `parameters: safetensors.total of ${title} on Hugging Face (its model card rounds); ` +
          'multiply-accumulates: the matrix products in appendix F of ' +
          'Hoffmann et al., arXiv:2203.15556',
        dimensions: { batch: 1, ...(isPrefill ? { sequence: PROMPT } : { past: PROMPT }) },
        define: llamaDecoder(size, phase, precision),
      };
    }),
  ),
);
