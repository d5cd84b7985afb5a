import { PlatformError } from '../../base/errors.js';
import { readRegularFile } from '../../base/regular-file.js';
import { fromFloat16Bits } from '../model/float16.js';
import { elementCount, type ElementType } from '../model/element-type.js';
import { MAX_LISTED_VALUES, type TensorType } from '../model/model.js';

export interface NpyArray extends TensorType {
  readonly values: readonly number[];
}

/** A header of at most 64 KiB, and the most values that are taken, of the widest type. */
const MAX_FILE_BYTES = 2 ** 16 + 8 * MAX_LISTED_VALUES;

type ReadElement = (view: DataView, at: number) => number;

/** By NumPy's name of a little-endian type: its name here, its bytes, how an element is read. */
const TYPES: ReadonlyMap<string, readonly [ElementType, number, ReadElement]> = new Map([
  ['<f8', ['float64', 8, (view, at) => view.getFloat64(at, true)]],
  ['<f4', ['float32', 4, (view, at) => view.getFloat32(at, true)]],
  ['<f2', ['float16', 2, (view, at) => fromFloat16Bits(view.getUint16(at, true))]],
  ['<i8', ['int64', 8, (view, at) => Number(view.getBigInt64(at, true))]],
  ['<u8', ['uint64', 8, (view, at) => Number(view.getBigUint64(at, true))]],
  ['<i4', ['int32', 4, (view, at) => view.getInt32(at, true)]],
  ['<u4', ['uint32', 4, (view, at) => view.getUint32(at, true)]],
  ['<i2', ['int16', 2, (view, at) => view.getInt16(at, true)]],
  ['<u2', ['uint16', 2, (view, at) => view.getUint16(at, true)]],
  ['|i1', ['int8', 1, (view, at) => view.getInt8(at)]],
  ['|u1', ['uint8', 1, (view, at) => view.getUint8(at)]],
  ['|b1', ['bool', 1, (view, at) => view.getUint8(at)]],
]);

const HEADER = /'descr': '(?<type>[^']+)', 'fortran_order': False, 'shape': \((?<shape>[\d, ]*)\)/;

/** As numpy.save writes it; undefined for other bytes, or another order. Format: numpy.lib.format. */
function parseNpy(bytes: Buffer): NpyArray | undefined {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 6) !== '\x93NUMPY') return undefined;
  const isFirstVersion = bytes[6] === 1;
  const start = isFirstVersion ? 10 : 12;
  const end = start + (isFirstVersion ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const header = HEADER.exec(bytes.toString('latin1', start, Math.min(end, bytes.length)))?.groups;
  const type = TYPES.get(header?.['type'] ?? '');
  if (type === undefined) return undefined;
  const [elementType, width, read] = type;
  const dims = (header?.['shape'] ?? '')
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);
  const count = elementCount(dims);
  if (bytes.length !== end + count * width) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + end, count * width);
  return { elementType, dims, values: Array.from({ length: count }, (_, at) => read(view, at * width)) };
}

/** Nothing in the file is executed. @throws PlatformError `usage`: unreadable, no such array, or too many numbers */
export async function readNpy(path: string): Promise<NpyArray> {
  const fail = (problem: string): never => {
    const advice = `Give an array of at most ${MAX_LISTED_VALUES} numbers as numpy.save writes it.`;
    throw new PlatformError('usage', `${path}: ${problem}. ${advice}`);
  };
  const file = await readRegularFile(path, MAX_FILE_BYTES);
  if (!file.ok) return fail(`it cannot be read: found ${file.found}`);
  const array = parseNpy(file.bytes);
  if (array === undefined) return fail('it is not a readable array of numbers');
  return array.values.length > MAX_LISTED_VALUES ? fail(`it has ${array.values.length} numbers`) : array;
}
