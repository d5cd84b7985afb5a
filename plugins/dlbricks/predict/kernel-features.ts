import { elementCount, ownValue, sumOf, type TracedTensor } from '../../../src/plugin-api.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { multiplyAccumulatesOf, countWork } from '../work/layer-work.js';

export interface KernelFeatures {
  /** Kernels with the same key are comparable: one operator, one algorithm, the same element types. */
  readonly key: string;
  /** On logarithmic scales; as many for all kernels with the same key. */
  readonly values: readonly number[];
  readonly roughMs: number;
}

/** Speed of one core of a server of the 2020s, in order of magnitude. A regression corrects it. */
const MULTIPLY_ACCUMULATES_PER_MS = 9e7;
const BYTES_PER_MS = 1.2e7;
const MS_PER_KERNEL = 0.0005;

const CONVOLUTION = /Conv/;
const PRODUCT = /MatMul|Gemm|Attention/;

/** The runtime has other algorithms for convolutions with fewer channels than a vector register. */
const FEW_CHANNELS = 16;

function log(value: number): number {
  return Math.log(1 + value);
}

function sizeOf({ dims }: TracedTensor): number {
  return elementCount(dims);
}

function total(tensors: readonly TracedTensor[]): number {
  return sumOf(tensors.map(sizeOf));
}

function numbers(attributes: LayerFacts['attributes'], name: string): readonly number[] {
  const value = ownValue(attributes ?? {}, name);
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'number');
}

function product(values: readonly number[]): number {
  return values.reduce((all, value) => all * value, 1);
}

/**
 * The features of a kernel in a context; undefined where its shapes are not known.
 *
 * @param footprintBytes see Context; 0 where it is measured alone
 */
export function kernelFeatures(facts: LayerFacts, footprintBytes: number): KernelFeatures | undefined {
  const { operator, domain = '', attributes, inputs, outputs, activations = [] } = facts;
  const work = countWork(facts);
  const [output] = outputs ?? [];
  if (inputs === undefined || output === undefined || work === undefined) return undefined;
  const multiplyAccumulates = multiplyAccumulatesOf(facts);
  const isActivation = new Set(activations);
  const weights = total(inputs.filter((_, index) => !isActivation.has(index)));
  const read = total(inputs.filter((_, index) => isActivation.has(index)));
  const context = log(footprintBytes);
  const [first, second] = inputs;
  let variant = '';
  let values: readonly number[];
  if (CONVOLUTION.test(operator) && second !== undefined) {
    const [, channels = 1, ...area] = second.dims;
    const isDepthwise = channels === 1 && (numbers(attributes, 'group')[0] ?? 1) > 1;
    variant = isDepthwise ? 'depthwise' : product(area) === 1 ? 'pointwise' : 'area';
    values = [
      log(multiplyAccumulates),
      ...[0, 1].map((axis) => log(output.dims[axis] ?? 1)),
      log(product(output.dims.slice(2))),
      log(channels),
      log(product(area)),
      log(product(numbers(attributes, 'strides'))),
      activations.length,
      Number(channels < FEW_CHANNELS && !isDepthwise),
      log(weights),
      context,
    ];
  } else if (PRODUCT.test(operator) && first !== undefined) {
    variant = isActivation.has(1) ? 'of two activations' : '';
    const columns = output.dims.at(-1) ?? 1;
    const rows = sizeOf(output) / Math.max(1, columns);
    const length = multiplyAccumulates / Math.max(1, sizeOf(output));
    values = [log(multiplyAccumulates), log(rows), log(columns), log(length), log(weights), context];
  } else {
    const window = log(product(numbers(attributes, 'kernel_shape')));
    values = [log(total(outputs ?? [])), log(read), log(weights), context, log(output.dims.at(-1) ?? 1), window];
  }
  const types = [...new Set([...inputs, ...(outputs ?? [])].map(({ elementType = '' }) => elementType))].sort();
  const roughMs = multiplyAccumulates / MULTIPLY_ACCUMULATES_PER_MS + work.bytes / BYTES_PER_MS + MS_PER_KERNEL;
  return { key: [domain, operator, variant, ...types].join(' '), values, roughMs };
}
