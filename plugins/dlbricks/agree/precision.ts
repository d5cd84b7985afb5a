import { type Model, TOLERANCE } from '../../../src/plugin-api.js';

/** Outputs of two models agree within this relative difference. */
export interface Precision {
  readonly name: string;
  readonly tolerance: number;
}

/**
 * Tolerances are about twenty times the largest error of rounding: 2 ** -11, 2 ** -9 and 1 / 510 of the largest
 * element. 15 steps would give more than half of it, but errors average out over the many weights of a sum.
 */
const FLOAT = { name: 'float32', tolerance: TOLERANCE };
const FLOAT16 = { name: 'float16', tolerance: 0.01 };
const BFLOAT16 = { name: 'bfloat16', tolerance: 0.04 };
const QUANTIZED = { name: 'quantized', tolerance: 0.04 };
const FOUR_BITS = { name: 'quantized to 4 bits or fewer', tolerance: 0.2 };

const OF_TYPES: ReadonlyMap<string, Precision> = new Map([
  ['float16', FLOAT16],
  ['bfloat16', BFLOAT16],
  ...['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'].map((type) => [type, QUANTIZED] as const),
  ...['uint4', 'int4', 'uint2', 'int2'].map((type) => [type, FOUR_BITS] as const),
]);

const QUANTIZED_OPERATOR = /^(Dynamic)?Quantize|^DequantizeLinear$|^Q[A-Z]|Integer(ToFloat)?$/;

const FOUR_BITS_BY_DEFAULT: ReadonlySet<string> = new Set(['MatMulNBits', 'MatMulBnb4', 'GatherBlockQuantized']);

function* listPrecisions({ graph }: Model): Generator<Precision> {
  const types = [...graph.types.values(), ...graph.initializers.values()];
  for (const { elementType } of types) yield OF_TYPES.get(elementType) ?? FLOAT;
  for (const { opType, attributes } of graph.nodes) {
    if (QUANTIZED_OPERATOR.test(opType)) yield QUANTIZED;
    if (!FOUR_BITS_BY_DEFAULT.has(opType)) continue;
    const bits = attributes.find(({ name }) => name === 'bits')?.i ?? 4;
    yield Number(bits) < 8 ? FOUR_BITS : QUANTIZED;
  }
}

export function coarsestPrecision(models: readonly Model[]): Precision {
  let coarsest: Precision = FLOAT;
  for (const model of models) {
    for (const precision of listPrecisions(model)) if (precision.tolerance > coarsest.tolerance) coarsest = precision;
  }
  return coarsest;
}
