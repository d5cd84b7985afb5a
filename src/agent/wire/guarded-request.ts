import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { messageOf, PlatformError } from '../../base/errors.js';

/**
 * Limit for what a request says besides the model's bytes. A few bytes on the wire become an object in memory, so that
 * the limit on a message's size alone would let a request of 64 MiB take gigabytes.
 */
const MAX_BYTES_BESIDE_MODEL = 4 * 2 ** 20;

/** Fields that lead from a request to the bytes of its models: Benchmark.model within MeasureRequest.benchmark and its like. */
export const MODEL_OF_BENCHMARK = [1, 2] as const;

/** Brick.benchmark within MeasureBricksRequest.bricks. */
export const MODELS_OF_BRICKS = [1, 1, 2] as const;

/** Bytes of the fields that a path of field numbers leads to. */
function bytesAt(reader: BinaryReader, end: number, [first, ...rest]: readonly number[]): number {
  let bytes = 0;
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    if (field !== first || type !== WireType.LengthDelimited) {
      reader.skip(type, field);
      continue;
    }
    const start = reader.pos;
    const fieldEnd = reader.uint32() + reader.pos;
    if (rest.length > 0) bytes += bytesAt(reader, Math.min(fieldEnd, end), rest);
    else bytes += fieldEnd - start;
    reader.pos = fieldEnd;
  }
  return bytes;
}

/**
 * Decodes a request that holds benchmarks.
 *
 * @param pathToModel field numbers that lead to the bytes of a model
 *
 * @throws PlatformError `usage` where it is damaged or would take too much memory
 */
export function decodeGuarded<T>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => T,
  pathToModel: readonly number[] = MODEL_OF_BENCHMARK,
): T {
  let beside: number;
  try {
    beside = bytes.length - bytesAt(new BinaryReader(bytes), bytes.length, pathToModel);
    if (beside <= MAX_BYTES_BESIDE_MODEL) return decode(bytes);
  } catch (cause) {
    throw new PlatformError('usage', `the request is damaged: ${messageOf(cause)}`, { cause });
  }
  const limit = `the limit is ${MAX_BYTES_BESIDE_MODEL}`;
  throw new PlatformError('usage', `the request has ${beside} bytes besides the model, ${limit}`);
}
