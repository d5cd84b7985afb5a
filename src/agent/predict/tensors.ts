import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import type { Element, Tensor } from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import { elementCount, ELEMENT_TYPES, type ElementType } from '../../onnx/model/element-type.js';
import { float16Bits } from '../../onnx/model/float16.js';
import { listed } from '../../onnx/model/node-label.js';
import type { TensorValue } from '../../predictor/tensor-value.js';
import type { PredictionInput, PredictionModel } from '../../registry/prediction-model.js';
import type { ElementTensors } from '../jobs/predict-session.js';
import type { FailedElement, InputBatch } from './batches.js';

const MAX_RANK = 64;

/** Most elements of one tensor as it is sent; far more than a text or a picture has. */
const MAX_TENSOR_ELEMENTS = 2 ** 22;

const BYTES_PER_ELEMENT = 8;

type Numbers = BigInt64Array | Float64Array;

function fail(problem: string): never {
  throw new PlatformError('usage', problem);
}

/** @throws PlatformError `usage` where the tensor is not as long as its dimensions say */
function numbersIn({ elementType, dimensions, data }: Tensor, name: string): Numbers {
  if (dimensions.length > MAX_RANK)
    fail(`${name} has ${dimensions.length} dimensions; at most ${MAX_RANK} are possible`);
  const count = elementCount(dimensions);
  if (count > MAX_TENSOR_ELEMENTS) fail(`${name} has ${count} elements; at most ${MAX_TENSOR_ELEMENTS} can be given`);
  if (data.length !== count * BYTES_PER_ELEMENT) {
    fail(
      `${name} has ${counted(data.length, 'byte')}; its ${counted(count, 'element takes', 'elements take')} ${count * BYTES_PER_ELEMENT}`,
    );
  }
  const { buffer } = new Uint8Array(data);
  if (elementType === 'int64') return new BigInt64Array(buffer);
  if (elementType === 'float64') return new Float64Array(buffer);
  return fail(`${name} is given as ${quoted(elementType)}; give int64 or float64`);
}

function boundsOf(elementType: ElementType): readonly [bigint, bigint] {
  const { bits, kind } = ELEMENT_TYPES[elementType];
  if (kind === 'boolean') return [0n, 1n];
  const width = BigInt(bits);
  return elementType.startsWith('u') ? [0n, 2n ** width - 1n] : [-(2n ** (width - 1n)), 2n ** (width - 1n) - 1n];
}

function integerWithin(value: number | bigint, name: string, elementType: ElementType): bigint {
  const [low, high] = boundsOf(elementType);
  const whole = typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value) : undefined;
  if (whole !== undefined && whole >= low && whole <= high) return whole;
  return fail(`${name} takes whole numbers from ${low} to ${high} (${elementType}); found ${value}`);
}

function converted(numbers: Numbers, name: string, elementType: ElementType): Uint8Array<ArrayBuffer> {
  const { array, kind, fed } = ELEMENT_TYPES[elementType];
  if (!fed || kind === 'string') fail(`${name} has elements of ${elementType}, which cannot be given`);
  const target = new array(numbers.length);
  for (const [i, value] of numbers.entries()) {
    if (elementType === 'float16') target[i] = float16Bits(Number(value));
    else if (kind === 'float') target[i] = Number(value);
    else {
      const whole = integerWithin(value, name, elementType);
      target[i] = target instanceof BigInt64Array || target instanceof BigUint64Array ? whole : Number(whole);
    }
  }
  return new Uint8Array(target.buffer);
}

function shown(sizes: readonly (number | undefined)[]): string {
  return `[${sizes.map((size) => size ?? 'any').join(', ')}]`;
}

/** The dimensions that fit the input: the given ones, or these with a leading 1 removed or added. */
function fittingDims(dims: readonly number[], { name, sizes }: PredictionInput): readonly number[] {
  const candidates = [dims, ...(dims[0] === 1 ? [dims.slice(1)] : []), [1, ...dims]];
  const fits = candidates.find((candidate) => {
    return candidate.length === sizes.length && candidate.every((size, i) => size === (sizes[i] ?? size));
  });
  return fits ?? fail(`${quoted(name)} takes ${shown(sizes)}; found ${shown(dims)}`);
}

function tensorFor(input: PredictionInput, tensors: readonly Tensor[], isOnly: boolean): TensorValue {
  const given = tensors.filter(({ name }) => name === input.name || (name === '' && isOnly));
  const [tensor] = given;
  const label = `input ${quoted(input.name)}`;
  if (tensor === undefined) return fail(`${label} is missing`);
  if (given.length > 1) fail(`${label} is given ${given.length} times`);
  const numbers = numbersIn(tensor, label);
  const dims = fittingDims(tensor.dimensions, input);
  if (dims.includes(0)) fail(`${label} is empty: ${shown(dims)}`);
  return { elementType: input.elementType, dims, bytes: converted(numbers, label, input.elementType) };
}

function parseTensors({ tensors }: Element, { inputs }: PredictionModel): ElementTensors {
  const unknown = tensors.find(({ name }) => {
    return name === '' ? inputs.length !== 1 : inputs.every((input) => input.name !== name);
  });
  if (unknown !== undefined) {
    const problem = unknown.name === '' ? 'a tensor has no name' : `no input is called ${quoted(unknown.name)}`;
    fail(`${problem}; the model has ${listed(inputs.map(({ name }) => quoted(name)))}`);
  }
  return new Map(inputs.map((input) => [input.name, tensorFor(input, tensors, inputs.length === 1)]));
}

/** Consecutive elements of equal shapes. @throws PlatformError `unsupported` for a batch fixed at more than one */
export function tensorBatches(
  elements: readonly Element[],
  {
    model,
    batchSize,
    idOf,
  }: { model: PredictionModel; batchSize: number; idOf: (element: Element, index: number) => string },
): readonly InputBatch[] {
  if ((model.fixedBatchSize ?? 1) > 1) {
    const problem = `the batch of ${model.name} is fixed at ${model.fixedBatchSize}, so it takes no single tensors`;
    throw new PlatformError('unsupported', `${problem}; export it with an open batch`);
  }
  const batches: { ids: string[]; elements: ElementTensors[]; failed: FailedElement[]; shapes?: string }[] = [];
  for (const [index, element] of elements.entries()) {
    const id = idOf(element, index);
    const last = batches.at(-1);
    try {
      const tensors = parseTensors(element, model);
      const shapes = [...tensors.values()].map(({ dims }) => dims.join(' ')).join(',');
      const isFull = last === undefined || last.ids.length >= batchSize;
      if (isFull || (last.shapes !== undefined && last.shapes !== shapes)) {
        batches.push({ ids: [id], elements: [tensors], failed: [], shapes });
      } else {
        last.ids.push(id);
        last.elements.push(tensors);
        last.shapes = shapes;
      }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      const failed = { id, error, position: last?.ids.length ?? 0 };
      if (last === undefined) batches.push({ ids: [], elements: [], failed: [failed] });
      else last.failed.push(failed);
    }
  }
  return batches.map(({ ids, elements: given, failed }) => ({
    ids,
    input: { kind: 'tensors', elements: given },
    failed,
  }));
}
