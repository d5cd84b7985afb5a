import { MAX_ELEMENTS } from '../../agent/predict/dataset.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { append } from '../../base/long-lists.js';
import type { Element, Tensor } from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import { elementCount } from '../../onnx/model/element-type.js';
import { readNpy } from '../../onnx/values/npy-file.js';
import { readRegularFile } from '../../base/regular-file.js';
import type { GivenInput } from './given-inputs.js';

/** Most bytes of one file, and most characters of standard input. */
const MAX_FILE_BYTES = 64 * 2 ** 20;

/** Most levels of nested lists. */
const MAX_RANK = 16;

const WHAT = 'a list of numbers for the only input, or an object with such a list for each input';

function fail(problem: string): never {
  throw new PlatformError('usage', problem);
}

/** Dimensions of nested lists, by the first list of each level. @throws PlatformError `usage` for too many levels */
function findDimensions(value: unknown): readonly number[] {
  const dimensions: number[] = [];
  let at = value;
  while (Array.isArray(at)) {
    dimensions.push(at.length);
    if (dimensions.length > MAX_RANK) fail(`lists are nested ${MAX_RANK} deep at most`);
    at = at[0] as unknown;
  }
  return dimensions;
}

function addNumbers(value: unknown, dimensions: readonly number[], numbers: number[]): void {
  const [length, ...rest] = dimensions;
  if (length === undefined) {
    if (typeof value === 'boolean') numbers.push(Number(value));
    else if (typeof value === 'number') numbers.push(value);
    else fail(`expected ${WHAT}; found ${JSON.stringify(value)?.slice(0, 80)} in it`);
    return;
  }
  if (!Array.isArray(value) || value.length !== length)
    fail(`lists at one level have different lengths; give lists of the same length`);
  else for (const item of value) addNumbers(item, rest, numbers);
}

function bytesOf(array: BigInt64Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer);
}

function buildTensor(name: string, dimensions: readonly number[], numbers: readonly number[]): Tensor {
  const dims = [...dimensions];
  if (numbers.every(Number.isSafeInteger)) {
    return { name, elementType: 'int64', dimensions: dims, data: bytesOf(BigInt64Array.from(numbers, BigInt)) };
  }
  return { name, elementType: 'float64', dimensions: dims, data: bytesOf(Float64Array.from(numbers)) };
}

function tensorIn(name: string, value: unknown): Tensor {
  const dimensions = findDimensions(value);
  const numbers: number[] = [];
  if (elementCount(dimensions) > 0) addNumbers(value, dimensions, numbers);
  return buildTensor(name, dimensions, numbers);
}

/** Nested lists of numbers, for the only input or by the names of inputs. @throws PlatformError `usage` */
function parseTensors(json: string): Tensor[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new PlatformError('usage', `expected ${WHAT} as JSON: ${messageOf(cause)}`, { cause });
  }
  if (Array.isArray(value)) return [tensorIn('', value)];
  if (typeof value !== 'object' || value === null) return fail(`expected ${WHAT}; found ${json.slice(0, 80)}`);
  const entries = Object.entries(value);
  return entries.length === 0
    ? fail(`expected ${WHAT}; found {}`)
    : entries.map(([name, item]) => tensorIn(name, item));
}

async function textOfInput(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8') as AsyncIterable<string>) {
    text += piece;
    if (text.length > MAX_FILE_BYTES) fail(`standard input has more than ${MAX_FILE_BYTES} characters`);
  }
  return text;
}

async function textOfFile(path: string): Promise<string> {
  if (path === '-') return textOfInput();
  const read = await readRegularFile(path, MAX_FILE_BYTES);
  return read.ok ? read.bytes.toString('utf8') : fail(`${path}: expected a file, found ${read.found}`);
}

const IS_JSON = /^\s*[[{]/;
const IS_NPY = /\.npy$/i;
const IS_LINES = /\.(jsonl|ndjson)$/i;

function ofJson(id: string, json: string): GivenInput<Element> {
  return { id, read: () => ({ id, tensors: parseTensors(json) }) };
}

function ofLines(path: string, text: string): readonly GivenInput<Element>[] {
  const lines = text.split('\n').map((line, i) => ({ line, number: i + 1 }));
  return lines.filter(({ line }) => line.trim() !== '').map(({ line, number }) => ofJson(`${path}:${number}`, line));
}

async function readElements(given: string, index: number): Promise<readonly GivenInput<Element>[]> {
  if (IS_JSON.test(given)) return [ofJson(String(index), given)];
  if (IS_NPY.test(given)) {
    const read = async (): Promise<Element> => {
      const { dims, values } = await readNpy(given);
      return { id: given, tensors: [buildTensor('', dims, values)] };
    };
    return [{ id: given, read }];
  }
  if (given !== '-' && !IS_LINES.test(given)) {
    return [{ id: given, read: async () => ({ id: given, tensors: parseTensors(await textOfFile(given)) }) }];
  }
  return ofLines(given, await textOfFile(given));
}

/** @throws PlatformError `usage` for a file that cannot be read, or too many elements */
export async function rawElements(given: readonly string[]): Promise<readonly GivenInput<Element>[]> {
  const elements: GivenInput<Element>[] = [];
  for (const [index, one] of given.entries()) append(elements, await readElements(one, index));
  if (elements.length === 0) fail('there are no elements: each line of JSON is one');
  if (elements.length > MAX_ELEMENTS)
    fail(`there are ${elements.length} elements; give at most ${MAX_ELEMENTS} at a time`);
  return elements;
}
