import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { messageOf, PlatformError } from '../../base/errors.js';

/**
 * Limit for what a request says besides the model's bytes. A few bytes on the wire become an object in memory, so that
 * the limit on a message's size alone would let a request of 64 MiB take gigabytes.
 */
const MAX_BYTES_BESIDE_MODEL = 4 * 2 ** 20;

/** Where both MeasureRequest and InferTypesRequest hold their benchmark, and Benchmark its model. */
const BENCHMARK_FIELD = 1;
const MODEL_FIELD = 2;

function bytesBesideModel(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes);
  let modelBytes = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== BENCHMARK_FIELD || type !== WireType.LengthDelimited) {
      reader.skip(type, field);
      continue;
    }
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      const [inner, innerType] = reader.tag();
      const start = reader.pos;
      reader.skip(innerType, inner);
      if (inner === MODEL_FIELD) modelBytes += reader.pos - start;
    }
  }
  return bytes.length - modelBytes;
}

/**
 * Decodes a request that holds a benchmark.
 *
 * @throws PlatformError `usage` where it is damaged or would take too much memory
 */
export function decodeGuarded<T>(bytes: Uint8Array, decode: (bytes: Uint8Array) => T): T {
  let beside: number;
  try {
    beside = bytesBesideModel(bytes);
    if (beside <= MAX_BYTES_BESIDE_MODEL) return decode(bytes);
  } catch (cause) {
    throw new PlatformError('usage', `the request is damaged: ${messageOf(cause)}`, { cause });
  }
  const limit = `the limit is ${MAX_BYTES_BESIDE_MODEL}`;
  throw new PlatformError('usage', `the request has ${beside} bytes besides the model, ${limit}`);
}
