import { elementCount } from '../model/element-type.js';
import { tableOfNames } from '../../base/table-of-names.js';

type Dims = readonly number[];

export interface SizedOperator {
  /** Its type in ONNX or in the runtime's own domains. */
  readonly operator: string;
  readonly inputs: readonly (Dims | undefined)[];
  readonly outputs: readonly (Dims | undefined)[];
  readonly integer: (name: string) => number | undefined;
  readonly integers?: ((name: string) => readonly number[] | undefined) | undefined;
}

type Counter = (operator: SizedOperator) => number;

/** Elements of a tensor; NaN where it is not known, so that a count with it is not known either. */
export function size(dims: Dims | undefined): number {
  return dims === undefined ? NaN : elementCount(dims);
}

/** Output elements times the weights of one output channel: [output channels, input channels of the group, …]. */
function convolution(weight: number): Counter {
  return ({ inputs, outputs }) => {
    const kernel = inputs[weight];
    const output = outputs[0];
    // A profile leaves out weights that the runtime keeps in another layout. Then another input is in their place.
    return kernel?.length === output?.length ? size(output) * size(kernel?.slice(1)) : NaN;
  };
}

/** Output elements times the length of the sums, which is a side of the first factor. */
const product: Counter = ({ inputs: [factor], outputs, integer }) => {
  return size(outputs[0]) * (factor?.at(integer('transA') === 1 ? -2 : -1) ?? NaN);
};

/** Each step multiplies the input and the previous state with the matrices of all gates. */
const recurrence: Counter = ({ inputs: [sequence, weight, state] }) => {
  return size(sequence?.slice(0, 2)) * (size(weight) + size(state));
};

/** Queries times keys, and the result times values. */
function attending(queries: Dims | undefined, keys: number | undefined): number {
  return 2 * size(queries) * (keys ?? NaN);
}

/** The runtime's Attention computes queries, keys and values of its input; ONNX's has them as inputs. */
const attention: Counter = ({ inputs, outputs }) => {
  const [first, second] = inputs;
  if (second?.length !== 2) return attending(first, second?.at(-2));
  return size(first?.slice(0, -1)) * size(second) + attending(outputs[0], first?.at(-2));
};

const COUNTERS = tableOfNames<Counter>({
  'Conv FusedConv NhwcFusedConv ConvInteger': convolution(1),
  QLinearConv: convolution(3),
  ConvTranspose: ({ inputs: [input, weight] }) => size(input) * size(weight?.slice(1)),
  'Gemm FusedGemm QGemm': product,
  'MatMul FusedMatMul MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul QLinearMatMul': product,
  MatMulNBits: ({ outputs, integer }) => size(outputs[0]) * (integer('K') ?? 1),
  'LSTM GRU RNN': recurrence,
  'Attention QAttention': attention,
  MultiHeadAttention: ({ inputs }) => attending(inputs[0], inputs[1]?.at(-2)),
  // The second output has all keys, those of the cache included.
  GroupQueryAttention: ({ outputs }) => attending(outputs[0], outputs[1]?.at(-2)),
});

/**
 * Products that are summed in convolutions, matrix products, recurrences and attention; all other operators count 0.
 * The plugin's rough-time.ts keeps an older approximation, because it decides which bricks there are.
 *
 * @returns undefined where a shape that decides it is not known
 */
export function multiplyAccumulates(operator: SizedOperator): number | undefined {
  const count = COUNTERS.get(operator.operator)?.(operator) ?? 0;
  return Number.isNaN(count) ? undefined : count;
}

export function multiplies(operator: string): boolean {
  return COUNTERS.has(operator);
}
