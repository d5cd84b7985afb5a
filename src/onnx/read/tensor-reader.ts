import { TensorProto, TensorProto_DataLocation } from '../../generated/onnx/onnx.js';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import type { ByteSource } from '../bytes/byte-source.js';
import { computeByteLength, ELEMENT_TYPES, type ElementType, elementTypeOfCode } from '../model/element-type.js';
import type { ExternalData } from './external-data.js';
import type { Tensor, TensorData } from '../model/model.js';
import { FIELDS } from '../bytes/field-numbers.js';
import { decodePayload, type Payload } from '../bytes/payload.js';
import { unpackIntegers } from '../bytes/unpack-integers.js';

/** Loaded, since they may steer: a Clip's bound, a Resize's scales. Lists of integers may be longer. */
const LOADED_BYTES = 4096;
const LOADED_INTEGER_BYTES = 65536;

/** Small values of a model are loaded up to this sum; those that come later stay in their file. */
const LOADED_SUM_BYTES = 2 ** 26;

/** Limit of all values that must be in memory at any size: lists of integers, and tensors in attributes. */
const MEMORY_LIMIT_BYTES = 2 ** 27;

/** The element types that each list of values may hold; raw_data holds any but strings. */
const TYPES_BY_FIELD = new Map<number, (type: ElementType) => boolean>([
  [FIELDS.TensorProto.floatData, (type) => type === 'float32'],
  [FIELDS.TensorProto.doubleData, (type) => type === 'float64'],
  [FIELDS.TensorProto.int32Data, (type) => ELEMENT_TYPES[type].bits <= 16 || type === 'int32'],
  [FIELDS.TensorProto.int64Data, (type) => type === 'int64'],
  [FIELDS.TensorProto.uint64Data, (type) => type === 'uint64' || type === 'uint32'],
  [FIELDS.TensorProto.rawData, () => true],
]);

/** Fields whose values lie in the file as in raw_data: little-endian, of fixed width. */
const RAW_FIELDS: ReadonlySet<number> = new Set([
  FIELDS.TensorProto.rawData,
  FIELDS.TensorProto.floatData,
  FIELDS.TensorProto.doubleData,
]);

/** The values of a weight that are not at hand. Its range follows from its use (fill-range.ts). */
function missing(missingFrom: string): TensorData {
  return { kind: 'fill', fill: { low: -1, high: 1, seed: 0 }, missingFrom };
}

/** Makes tensors of the stripped TensorProtos of one model (see strip-payloads.ts), and loads the small ones. */
export class TensorReader {
  #loadedBytes = 0;
  #memoryBytes = 0;

  constructor(
    readonly source: ByteSource,
    readonly external: ExternalData | undefined,
  ) {}

  /** Small values are loaded. @throws PlatformError 'model' where type, shape and values do not match */
  read(proto: TensorProto, owner: string): Tensor {
    const { elementType, dims, count } = this.#readType(proto, owner);
    const limit = ELEMENT_TYPES[elementType].kind === 'integer' ? LOADED_INTEGER_BYTES : LOADED_BYTES;
    return { elementType, dims, data: this.#data(proto, elementType, count, limit, owner) };
  }

  /** The tensor with its values in memory as raw_data (or as strings), as attributes hold them; without a name. */
  load(proto: TensorProto, owner: string): TensorProto {
    const { elementType, count } = this.#readType(proto, owner);
    const data = this.#data(proto, elementType, count, Infinity, owner);
    const loaded = { ...TensorProto.create(), dims: proto.dims, dataType: proto.dataType };
    if (data.kind === 'strings') return { ...loaded, stringData: [...data.values] };
    if (data.kind !== 'inline') return loaded;
    return { ...loaded, rawData: data.bytes };
  }

  #readType(proto: TensorProto, owner: string): { elementType: ElementType; dims: number[]; count: number } {
    const elementType = elementTypeOfCode(proto.dataType);
    if (elementType === undefined) {
      throw this.#error(owner, `its element type (number ${proto.dataType}) is not one that this project knows`);
    }
    const dims = proto.dims.map(Number);
    const count = dims.reduce((product, dim) => product * dim, 1);
    if (!dims.every((dim) => Number.isSafeInteger(dim) && dim >= 0) || !Number.isSafeInteger(count * 8)) {
      throw this.#error(owner, `its shape [${dims.slice(0, 16).join(', ')}] is impossible`);
    }
    return { elementType, dims, count };
  }

  /** @param limit size up to which values are loaded; Infinity where they must be */
  #data(proto: TensorProto, elementType: ElementType, count: number, limit: number, owner: string): TensorData {
    const payload = decodePayload(proto.rawData);
    const isExternal = proto.dataLocation === TensorProto_DataLocation.EXTERNAL;
    if (elementType === 'string') {
      if (isExternal || payload !== undefined || proto.stringData.length !== count) {
        throw this.#error(owner, `it has ${counted(proto.stringData.length, 'string')}, but its shape takes ${count}`);
      }
      return { kind: 'strings', values: proto.stringData };
    }
    const byteLength = computeByteLength(elementType, count);
    if (isExternal) {
      if (payload !== undefined) throw this.#error(owner, 'it has values both in the model and in an external file');
      return this.#externalData(proto, byteLength, limit, owner);
    }
    if (payload === undefined) {
      if (byteLength > 0 && this.#isOptional(limit)) return missing('');
      if (byteLength > 0)
        throw this.#error(owner, `it has no values, but its shape takes ${counted(byteLength, 'byte')}`);
      return { kind: 'inline', bytes: new Uint8Array() };
    }
    if (TYPES_BY_FIELD.get(payload.field)?.(elementType) !== true) {
      throw this.#error(owner, `its values are in field ${payload.field}, which cannot hold ${elementType}`);
    }
    if (!RAW_FIELDS.has(payload.field)) return this.#unpack(payload, elementType, count, owner);
    const { offset } = payload;
    if (payload.byteLength !== byteLength) {
      throw this.#error(
        owner,
        `it has ${counted(payload.byteLength, 'byte')} of values, but its shape takes ${byteLength}`,
      );
    }
    const { path } = this.source;
    if (path !== undefined && !this.#loads(byteLength, limit, owner)) return { kind: 'file', path, offset, byteLength };
    return { kind: 'inline', bytes: this.source.read(offset, byteLength) };
  }

  #externalData(proto: TensorProto, byteLength: number, limit: number, owner: string): TensorData {
    if (this.external === undefined) throw this.#error(owner, 'its values are in an external file');
    const data = this.external.locate(proto.externalData, byteLength, owner, this.#isOptional(limit));
    if (typeof data === 'string') return missing(data);
    return this.#loads(byteLength, limit, owner) ? { kind: 'inline', bytes: this.external.read(data) } : data;
  }

  #isOptional(limit: number): boolean {
    return limit !== Infinity && this.external?.use === 'optional';
  }

  #unpack(payload: Payload, elementType: ElementType, count: number, owner: string): TensorData {
    const byteLength = computeByteLength(elementType, count);
    const { bits } = ELEMENT_TYPES[elementType];
    // Values of less than a byte come packed into bytes.
    const values = bits < 8 ? byteLength : count;
    // A varint takes at least a byte, so a wrong shape is found before memory is allocated for it.
    if (values <= payload.byteLength) {
      this.#useMemory(byteLength + payload.byteLength, owner);
      const packed = this.source.read(payload.offset, payload.byteLength);
      const bytes = unpackIntegers(packed, values, Math.max(bits, 8));
      if (bytes !== undefined) return { kind: 'inline', bytes };
    }
    throw this.#error(owner, `its values are not the ${values} integers that its shape takes`);
  }

  #loads(byteLength: number, limit: number, owner: string): boolean {
    if (limit === Infinity) this.#useMemory(byteLength, owner);
    else if (byteLength > limit || this.#loadedBytes + byteLength > LOADED_SUM_BYTES) return false;
    else this.#loadedBytes += byteLength;
    return true;
  }

  #useMemory(byteLength: number, owner: string): void {
    this.#memoryBytes += byteLength;
    if (this.#memoryBytes <= MEMORY_LIMIT_BYTES) return;
    throw new PlatformError(
      'model',
      `${this.source.name}: ${owner}: tensors in attributes, in subgraphs and in lists of integers would take more than ` +
        `${MEMORY_LIMIT_BYTES / 2 ** 20} MiB of memory. Export the model with its weights as initializers in raw_data.`,
    );
  }

  #error(owner: string, problem: string): PlatformError {
    return new PlatformError('model', `${this.source.name}: ${owner}: ${problem}. Export the model again.`);
  }
}
