import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import type { TestContext } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { MAX_MESSAGE_BYTES } from '../../../src/rpc/limits.js';
import { createRpcServer, type RpcServer, type RpcServerOptions } from '../../../src/rpc/server.js';

const asItIs = (bytes: Buffer): Buffer => bytes;

/** Servers give decoders a reader of the bytes, as code that is generated from the contract expects. */
function allOf(reader: unknown): Buffer {
  if (!(reader instanceof BinaryReader)) throw new TypeError('expected a reader');
  const { buf } = reader as unknown as { readonly buf: Uint8Array };
  return Buffer.from(buf);
}

function method(path: string, responseStream: boolean) {
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: asItIs,
    requestDeserialize: allOf,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  } as const;
}

/** Answers with the bytes that it gets. It is not in the contract, so that all its methods are writes. */
export const echo = {
  /** Requests of up to 64 MiB. */
  repeat: method('/test.Echo/Repeat', false),
  /** Requests of up to 4 MiB. */
  small: method('/test.Echo/Small', false),
  /** A request that starts with `x` is damaged. */
  picky: {
    ...method('/test.Echo/Picky', false),
    requestDeserialize: (reader: Buffer): Buffer => {
      const bytes = allOf(reader);
      if (bytes.toString().startsWith('x')) throw new Error('premature EOF');
      return bytes;
    },
  },
  /** As many answers as the request has bytes. */
  count: method('/test.Echo/Count', true),
  /** Answers with as many MiB as the request's only byte says. */
  large: method('/test.Echo/Large', false),
  /** Fails with the request as its message. */
  fail: method('/test.Echo/Fail', false),
  /** Doesn't answer. */
  hang: method('/test.Echo/Hang', false),
};

type Unary = handleUnaryCall<Buffer, Buffer>;

/** Adds the service. @returns the number of calls of each method, which is updated by each call */
export function addEcho(server: RpcServer): Map<string, number> {
  const { calls } = server;
  const answered = new Map<string, number>();
  const note = (name: string): void => void answered.set(name, (answered.get(name) ?? 0) + 1);
  const repeat: Unary = (call, callback) => {
    note('repeat');
    void calls.answer(call, callback, () => call.request);
  };
  const fail: Unary = (call, callback) => {
    note('fail');
    void calls.answer(call, callback, () => Promise.reject(new PlatformError('unavailable', call.request.toString())));
  };
  const hang: Unary = (call, callback) => {
    note('hang');
    const untilAborted = (signal: AbortSignal): Promise<Buffer> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    void calls.answer(call, callback, untilAborted);
  };
  const count: handleServerStreamingCall<Buffer, Buffer> = (call) => {
    void calls.stream(call, () => {
      for (const byte of call.request) call.write(Buffer.from([byte]));
      return Promise.resolve();
    });
  };
  const large: Unary = (call, callback) => {
    void calls.answer(call, callback, () => Buffer.alloc((call.request[0] ?? 0) * 2 ** 20));
  };
  server.addService(
    echo,
    { repeat, large, small: repeat, picky: repeat, count, fail, hang },
    { maxRequestBytes: { repeat: MAX_MESSAGE_BYTES, hang: MAX_MESSAGE_BYTES } },
  );
  return answered;
}

/** A server on loopback with the service, closed when the test ends. */
export async function echoServer(t: TestContext, options: RpcServerOptions = {}) {
  const server = createRpcServer(options);
  const answered = addEcho(server);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close(new PlatformError('unavailable', 'the server is shutting down')));
  return { server, address, answered };
}
