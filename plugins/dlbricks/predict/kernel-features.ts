import { elementCount, ownValue, sumOf, type TracedTensor } from '../../../src/plugin-api.js';
import { type LayerFacts, countMultiplyAccumulates, countWork } from '../work/layer-facts.js';

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
const BYTES_PER_WEIGHT = 4;

const CONVOLUTION = /conv/i;
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
 * The features of a kernel in a context; undefined where neither its shapes nor its bytes are known.
 *
 * @param footprintBytes see Context; 0 where it is measured alone
 */
export function kernelFeatures(facts: LayerFacts, footprintBytes: number): KernelFeatures | undefined {
  const { operator, domain = '', attributes, inputs, outputs, activations = [] } = facts;
  const work = countWork(facts);
  const [output] = outputs ?? [];
  const hasShapes = inputs !== undefined && output !== undefined;
  if (work === undefined || (!hasShapes && facts.bytes === undefined)) return undefined;
  const multiplyAccumulates = hasShapes ? countMultiplyAccumulates(facts) : work.operations / 2;
  const roughMsOf = (bytes: number): number => {
    return multiplyAccumulates / MULTIPLY_ACCUMULATES_PER_MS + bytes / BYTES_PER_MS + MS_PER_KERNEL;
  };
  const context = log(footprintBytes);
  if (!hasShapes) {
    const values = [log(multiplyAccumulates), log(work.bytes), context];
    return { key: [domain, operator, 'without shapes'].join(' '), values, roughMs: roughMsOf(work.bytes) };
  }
  const isActivation = new Set(activations);
  const weights = total(inputs.filter((_, index) => !isActivation.has(index)));
  const read = total(inputs.filter((_, index) => isActivation.has(index)));
  const [first, second] = inputs;
  let variant = '';
  let packed = 0;
  let values: readonly number[];
  if (CONVOLUTION.test(operator) && first !== undefined && second !== undefined) {
    const [, channels = 1, ...area] = second.dims;
    // Not every trace has attributes; then the shapes show the groups.
    const groups = numbers(attributes, 'group')[0] ?? (area.length === 0 ? 1 : first.dims.at(-1 - area.length));
    const isDepthwise = channels === 1 && (groups ?? 1) > 1;
    variant = isDepthwise ? 'depthwise' : product(area) === 1 ? 'pointwise' : 'area';
    values = [
      log(multiplyAccumulates),
      log(output.dims[1] ?? 1),
      // The batch is no feature of its own: where all kernels have the same, its effect would be extrapolated.
      log(product(output.dims) / Math.max(1, output.dims[1] ?? 1)),
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
    // A profile leaves out weights that the runtime keeps in a layout of its own.
    packed = inputs.slice(1).every(({ dims }) => dims.length < 2) ? length * columns : 0;
    values = [log(multiplyAccumulates), log(rows), log(columns), log(length), log(weights + packed), context];
  } else {
    const window = log(product(numbers(attributes, 'kernel_shape')));
    values = [log(total(outputs ?? [])), log(read), log(weights), context, log(output.dims.at(-1) ?? 1), window];
  }
  const types = [...new Set([...inputs, ...(outputs ?? [])].map(({ elementType = '' }) => elementType))].sort();
  return {
    key: [domain, operator, variant, ...types].join(' '),
    values,
    roughMs: roughMsOf(work.bytes + BYTES_PER_WEIGHT * packed),
  };
}
