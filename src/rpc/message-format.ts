import type { MethodDefinition } from '@grpc/grpc-js';
import { messageOf, PlatformError } from '../base/errors.js';
import { CountingReader, VALUE_BYTES } from './counting-reader.js';
import { MAX_NAME_REQUEST_BYTES, MAX_REQUEST_BYTES } from './limits.js';

export interface MessageFormat {
  /**
   * @param mostValueBytes memory that the values may take besides the bytes of the request
   * @throws PlatformError `usage` for a request that is too large or damaged, `exhausted` if its values take more
   */
  decode(bytes: Buffer, mostValueBytes: number): { readonly request: unknown; readonly valueBytes: number };
  encode(message: unknown): Buffer;
  /** Whether the next request of a stream is read only when the answers so far have been taken. */
  readonly isPaced: boolean;
}

type AnyMethod = MethodDefinition<unknown, unknown>;

function requireSize(bytes: Buffer, maxBytes: number): void {
  if (bytes.length <= maxBytes) return;
  throw new PlatformError('usage', `the request has ${bytes.length} bytes; this method takes at most ${maxBytes}`);
}

/** @throws PlatformError that of the decoder, else `usage` */
export function decoded<Request>(decode: () => Request): Request {
  try {
    return decode();
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw new PlatformError('usage', `the request is damaged: ${messageOf(cause)}`, { cause });
  }
}

export function noRoom(): PlatformError {
  return new PlatformError('exhausted', 'the server has no room for more requests; try again later');
}

export function contractFormat(method: AnyMethod, maxBytes = MAX_REQUEST_BYTES): MessageFormat {
  const maxValues = Math.floor(maxBytes / VALUE_BYTES);
  const tooMany = (): PlatformError =>
    new PlatformError('usage', `the request has more than the ${maxValues} values that this method takes at most`);
  return {
    decode(bytes, mostValueBytes) {
      requireSize(bytes, maxBytes);
      const mostValues = Math.floor(mostValueBytes / VALUE_BYTES);
      const reader = new CountingReader(
        bytes,
        Math.min(maxValues, mostValues),
        mostValues < maxValues ? noRoom : tooMany,
      );
      // Generated decoders take a reader as well, although their type does not show it.
      const request = decoded(() => method.requestDeserialize(reader as unknown as Buffer));
      return { request, valueBytes: reader.values * VALUE_BYTES };
    },
    encode: (message) => method.responseSerialize(message),
    isPaced: false,
  };
}

export function standardFormat(method: AnyMethod): MessageFormat {
  return {
    decode(bytes) {
      requireSize(bytes, MAX_NAME_REQUEST_BYTES);
      return { request: decoded(() => method.requestDeserialize(bytes)), valueBytes: 0 };
    },
    encode: (message) => method.responseSerialize(message),
    isPaced: true,
  };
}
