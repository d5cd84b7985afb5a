import { multiplies, multiplyAccumulates, size, type SizedOperator } from './multiply-accumulates.js';
import { tableOfNames } from '../../base/table-of-names.js';

/** The arithmetic of an operator by its kind, after Benanza (Li et al., arXiv 1911.06922). */
export interface Operations {
  readonly multiplyAccumulates: number;
  readonly additions: number;
  readonly divisions: number;
  /** Exponentials and other functions without a closed form: erf, sine, square root. */
  readonly exponentiations: number;
  readonly comparisons: number;
  /** Single multiplications, negations, roundings. */
  readonly others: number;
}

type Counts = Partial<Omit<Operations, 'multiplyAccumulates'>>;

type Counter = (operator: SizedOperator) => Counts;

const NONE: Operations = {
  multiplyAccumulates: 0,
  additions: 0,
  divisions: 0,
  exponentiations: 0,
  comparisons: 0,
  others: 0,
};

const KINDS = Object.keys(NONE) as (keyof Operations)[];

function times(counts: Counts, factor: number): Counts {
  return Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, count * factor]));
}

function each(counts: Counts): Counter {
  return ({ outputs }) => times(counts, size(outputs[0]));
}

function eachRead(counts: Counts): Counter {
  return ({ inputs }) => times(counts, size(inputs[0]));
}

function eachFurther(counts: Counts): Counter {
  return ({ inputs, outputs }) => times(counts, size(outputs[0]) * Math.max(0, inputs.length - 1));
}

function eachInWindow(counts: Counts): Counter {
  return ({ outputs, integers }) => times(counts, size(outputs[0]) * size(integers?.('kernel_shape')));
}

const SOFTMAX: Counts = { exponentiations: 1, additions: 1, divisions: 1 };
const SIGMOID: Counts = SOFTMAX;

/** The softmax of the scores, beside the products. */
const attention: Counter = ({ inputs: [first, second], integer }) => {
  const keys = (second?.length === 2 ? first : second)?.at(-2);
  const heads = first?.length === 4 ? first[1] : integer('num_heads');
  const queries = first?.at(-2);
  const isKnown = keys !== undefined && heads !== undefined && queries !== undefined;
  return times(SOFTMAX, isKnown ? (first?.[0] ?? 1) * heads * queries * keys : NaN);
};

const localResponse: Counter = ({ outputs, integer }) => {
  const elements = size(outputs[0]);
  const multiplied = elements * (integer('size') ?? NaN);
  return {
    additions: elements + multiplied,
    others: multiplied,
    exponentiations: elements,
    divisions: 2 * elements,
  };
};

/** Operators that only move, choose or convert values. */
const MOVING =
  'Cast CastLike Concat ConstantOfShape Compress DepthToSpace Dropout Expand EyeLike Flatten Gather GatherElements GatherND ' +
  'Identity NonZero OneHot Pad QLinearConcat Range ReorderInput ReorderOutput Reshape ReverseSequence ScatterElements ' +
  'ScatterND Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze MemcpyFromHost MemcpyToHost';

/** What there is beside the sums of products. Fused activations and the scaling of quantized values are not counted. */
const COUNTERS = tableOfNames<Counter>({
  [MOVING]: () => ({}),
  'Gemm FusedGemm QGemm': ({ inputs, outputs }) => (inputs[2] === undefined ? {} : { additions: size(outputs[0]) }),
  'Attention MultiHeadAttention QAttention': attention,
  BatchNormalization: each({ additions: 1, divisions: 1 }),
  'LayerNormalization InstanceNormalization GroupNormalization GroupNorm': each({ others: 5 }),
  'RMSNormalization SimplifiedLayerNormalization': each({ others: 4 }),
  SkipLayerNormalization: each({ additions: 1, others: 5 }),
  SkipSimplifiedLayerNormalization: each({ additions: 1, others: 4 }),
  LRN: localResponse,
  'Relu Where': each({ comparisons: 1 }),
  'Equal Greater GreaterOrEqual Less LessOrEqual IsNaN IsInf': each({ comparisons: 1 }),
  Clip: each({ comparisons: 2 }),
  'LeakyRelu PRelu ThresholdedRelu QLinearLeakyRelu': each({ comparisons: 1, others: 1 }),
  'Elu Selu Celu': each({ comparisons: 1, exponentiations: 1, additions: 1, others: 1 }),
  'Sigmoid QLinearSigmoid': each(SIGMOID),
  'QuickGelu Swish': each({ ...SIGMOID, others: 1 }),
  HardSigmoid: each({ additions: 1, comparisons: 2, others: 1 }),
  HardSwish: each({ additions: 1, comparisons: 2, others: 2 }),
  Tanh: each({ exponentiations: 1, additions: 2, divisions: 1 }),
  Softplus: each({ exponentiations: 2, additions: 1 }),
  Softsign: each({ additions: 1, divisions: 1, others: 1 }),
  'Gelu FastGelu': each({ exponentiations: 1, additions: 1, others: 3 }),
  BiasGelu: each({ exponentiations: 1, additions: 2, others: 3 }),
  'Softmax LogSoftmax QLinearSoftmax': each(SOFTMAX),
  'Exp Log Sqrt Pow Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh': each({ exponentiations: 1 }),
  'Add Sub QLinearAdd': each({ additions: 1 }),
  Sum: eachFurther({ additions: 1 }),
  Mean: (operator) => ({ ...eachFurther({ additions: 1 })(operator), ...each({ divisions: 1 })(operator) }),
  'Max Min': eachFurther({ comparisons: 1 }),
  'Div Mod Reciprocal': each({ divisions: 1 }),
  'Mul QLinearMul Neg Abs Sign Round Floor Ceil Not And Or Xor BitShift': each({ others: 1 }),
  CumSum: each({ additions: 1 }),
  RotaryEmbedding: each({ others: 3 }),
  QuantizeLinear: each({ additions: 1, divisions: 1 }),
  DequantizeLinear: each({ additions: 1, others: 1 }),
  DynamicQuantizeLinear: eachRead({ additions: 1, divisions: 1, comparisons: 2 }),
  'ReduceSum ReduceL1': eachRead({ additions: 1 }),
  ReduceMean: (operator) => ({ ...eachRead({ additions: 1 })(operator), ...each({ divisions: 1 })(operator) }),
  'ReduceMax ReduceMin ArgMax ArgMin GlobalMaxPool': eachRead({ comparisons: 1 }),
  'ReduceProd GlobalLpPool': eachRead({ others: 1 }),
  ReduceSumSquare: eachRead({ additions: 1, others: 1 }),
  ReduceL2: (operator) => ({
    ...eachRead({ additions: 1, others: 1 })(operator),
    ...each({ exponentiations: 1 })(operator),
  }),
  'GlobalAveragePool QLinearGlobalAveragePool': eachRead({ additions: 1 }),
  MaxPool: eachInWindow({ comparisons: 1 }),
  'AveragePool QLinearAveragePool': eachInWindow({ additions: 1 }),
  LpPool: eachInWindow({ additions: 1, others: 1 }),
});

export function isCounted(operator: string): boolean {
  return COUNTERS.has(operator) || multiplies(operator);
}

/** The arithmetic of an operator. @returns undefined where the operator is not counted, or a shape is not known */
export function countOperations(operator: SizedOperator): Operations | undefined {
  const products = multiplyAccumulates(operator);
  if (products === undefined || !isCounted(operator.operator)) return undefined;
  const further = COUNTERS.get(operator.operator)?.(operator) ?? {};
  const counts = { ...NONE, ...further, multiplyAccumulates: products };
  return KINDS.some((kind) => Number.isNaN(counts[kind])) ? undefined : counts;
}

/** All operations; a multiply-accumulate is two. */
export function totalOperations(counts: Operations): number {
  return KINDS.reduce((sum, kind) => sum + counts[kind], counts.multiplyAccumulates);
}
