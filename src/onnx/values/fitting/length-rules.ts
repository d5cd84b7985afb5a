import { tableOfNames } from '../../../base/table-of-names.js';
import {
  type FittingRule,
  type FittingRules,
  indicesBelow,
  list,
  type OperatorUse,
  repeated,
  upTo,
  integerAttribute,
} from './operator-use.js';

// Lengths of sequences and caches: the whole length is used, as after a prompt that fills the cache. Sources:
// Operators.md of the ONNX project, ContribOperators.md of ONNX Runtime.

/** Iterations of a Loop whose number of iterations is an input of the graph. */
const TRIPS = 8;

/** Sequences as long as the input has steps. */
const steps: FittingRule = ({ node, input }) => {
  const size = input(0)?.[integerAttribute(node, 'layout', 0) === 1 ? 1 : 0];
  return list(size === undefined ? undefined : [size]);
};

const reversedSteps: FittingRule = ({ node, input }) => {
  const size = input(0)?.[integerAttribute(node, 'time_axis', 0)];
  return list(size === undefined ? undefined : [size]);
};

/**
 * With those in the cache: from a constant, or from the cache's sizes. Where it does not grow (a buffer, or an unknown
 * type), the new tokens are added to its size. The table of positions is the limit.
 */
function tokens({ input, output, constant }: OperatorUse): number | undefined {
  const now = input(0)?.[1];
  const before = input(3)?.[2];
  const after = output(1)?.[2];
  const grown = now === undefined || before === undefined ? now : before + now;
  const told = constant(6)?.[0] ?? (after !== before ? after : undefined) ?? grown;
  return told === undefined ? undefined : Math.min(told, input(7)?.[0] ?? told);
}

/** The operator's lengths of sequences, which are the tokens less one. */
const lastToken: FittingRule = (use) => {
  const all = tokens(use);
  return list(all === undefined ? undefined : [all - 1]);
};

const allTokens: FittingRule = (use) => {
  const all = tokens(use);
  return list(all === undefined ? undefined : [all]);
};

/** What a cache holds before the new tokens fill it. @param cache input of keys, whose last axis but one is its length */
function cachedTokens(cache: number): FittingRule {
  return ({ input }) => {
    const size = input(cache)?.at(-2);
    const now = input(0)?.[1];
    return list(size === undefined || now === undefined ? undefined : [Math.max(0, size - now)]);
  };
}

const newestPositions: FittingRule = (use) => {
  const all = tokens(use);
  const now = use.input(0)?.[1];
  return list(all === undefined || now === undefined ? undefined : upTo(now).map((at) => all - now + at));
};

/** Positions from 0, or one position to count from; the operator of ai.onnx has other inputs. */
const positions: FittingRule = ({ node, own, count }) => {
  if (node.domain !== 'com.microsoft') return undefined;
  return list(own.length < 2 ? [0] : upTo(own.at(-1) ?? count));
};

/** A length per sequence, or all ends and then beginnings; undefined for a mask. @param keys input with sequences */
function maskOrLengths(keys: number): FittingRule {
  return ({ own, count, input }) => {
    const batch = input(0)?.[0];
    const length = input(keys)?.[1];
    if (own.length !== 1 || batch === undefined || length === undefined) return undefined;
    if (count === batch) return list([length]);
    return count === 2 * batch ? list([...repeated(batch, length), ...repeated(batch, 0)]) : undefined;
  };
}

export const LENGTH_RULES = tableOfNames<FittingRules>({
  Attention: { 3: maskOrLengths(0) },
  DecoderMaskedMultiHeadAttention: { 7: cachedTokens(5) },
  EmbedLayerNormalization: {
    0: ({ input }) => indicesBelow(input(2)?.[0]),
    1: ({ input }) => indicesBelow(input(4)?.[0]),
  },
  GatherBlockQuantized: {
    1: ({ node, input }) => indicesBelow(input(0)?.at(integerAttribute(node, 'gather_axis', 0))),
  },
  'DynamicQuantizeLSTM GRU LSTM RNN': { 4: steps },
  GroupQueryAttention: { 5: lastToken, 6: allTokens, 9: newestPositions },
  Loop: { 0: () => list([TRIPS]) },
  MultiHeadAttention: { 4: maskOrLengths(1), 8: cachedTokens(6) },
  ReverseSequence: { 1: reversedSteps },
  RotaryEmbedding: { 1: positions },
});
