import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { after, before, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createRpcClient, type RpcClient } from '../../../src/rpc/client.js';
import type { ServerLimits } from '../../../src/rpc/limits.js';
import type { Lifetime } from '../../support/lifetime.js';

const SERVER = fileURLToPath(new URL('server-process.js', import.meta.url));

/** A million values in two mebibytes: repetitions of field 15, which no request has. */
export const MANY_VALUES = Buffer.alloc(2 * 2 ** 20, Uint8Array.of(0x78, 0x01));

export interface ServerProcess {
  readonly address: string;
  readonly isRunning: () => boolean;
  /** The peak of its memory. */
  readonly peakBytes: () => Promise<number>;
}

/** A server in a process of its own, ended with the test. */
export function serverProcess(t: Lifetime, limits: Partial<ServerLimits> = {}) {
  return forked(t, SERVER, limits);
}

/** One server process for all tests of a suite; the returned function gives it inside of a test. */
export function serverForSuite(limits: Partial<ServerLimits> = {}): () => ServerProcess {
  const undone: (() => unknown)[] = [];
  let server: ServerProcess | undefined;
  before(async () => {
    server = await serverProcess({ after: (undo) => void undone.push(undo) }, limits);
  });
  after(() => {
    for (const undo of undone) undo();
  });
  return () => server ?? assert.fail('only inside of a test');
}

/** A process that sends its address when it is ready, and its peak memory in answer to any message. */
export async function forked(t: Lifetime, script: string, options: object): Promise<ServerProcess> {
  const child = fork(script, [JSON.stringify(options)], { execArgv: [] });
  t.after(() => child.kill('SIGKILL'));
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  return {
    address,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    peakBytes: async (): Promise<number> => {
      child.send({});
      const [{ peakBytes }] = (await once(child, 'message')) as [{ peakBytes: number }];
      return peakBytes;
    },
  };
}

/** A proper client, closed with the test. */
export function clientOf(t: TestContext, address: string): RpcClient {
  const client = createRpcClient(address, 'server');
  t.after(() => client.close());
  return client;
}

/** A bare connection, and a promise that resolves when it is closed. */
export async function rawSocket(t: TestContext, address: string) {
  const [host, port] = address.split(':');
  const socket = net.connect(Number(port), host);
  t.after(() => socket.destroy());
  const closed = once(socket, 'close');
  socket.on('error', () => socket.destroy());
  socket.resume();
  await once(socket, 'connect');
  return { socket, closed };
}

/** Announces a message of this many bytes, not compressed. */
export function messagePrefix(bytes: number, compressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compressed ? 1 : 0);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** How a call that was made by hand ended. */
export interface HandMadeEnd {
  readonly httpStatus: number | undefined;
  /** undefined where the connection or the stream broke off. */
  readonly grpcStatus: number | undefined;
  readonly message: string;
}

export type HandMadeCall = http2.ClientHttp2Stream & { readonly ended: Promise<HandMadeEnd> };

/** An HTTP/2 client. All of gRPC that it sends comes from the test. @param reads whether it reads answers */
export function handMadeClient(t: TestContext, address: string, { reads = true } = {}) {
  const session = http2.connect(`http://${address}`);
  session.on('error', () => {});
  t.after(() => session.destroy());

  function call(path: string, headers: http2.OutgoingHttpHeaders = {}): HandMadeCall {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    let seen: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    stream.on('response', (response) => (seen = { ...seen, ...response }));
    stream.on('trailers', (trailers: http2.IncomingHttpHeaders) => (seen = { ...seen, ...trailers }));
    stream.on('error', () => {});
    if (reads) stream.resume();
    const ended = new Promise<HandMadeEnd>((resolve) => {
      const end = (): void => {
        const grpc = seen['grpc-status'];
        resolve({
          httpStatus: seen[':status'],
          grpcStatus: grpc === undefined ? undefined : Number(grpc),
          message: decodeURI(String(seen['grpc-message'] ?? '')),
        });
      };
      // The server's side of the stream ends, or the whole stream.
      stream.once('end', end).once('close', end);
    });
    return Object.assign(stream, { ended });
  }

  return { session, call };
}

function roomOrEnd(stream: http2.ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.once('drain', done).once('close', done);
  });
}

/** Writes until this many bytes are taken or the stream is over. @returns the number of bytes written */
export async function pour(stream: http2.ClientHttp2Stream, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(256 * 1024);
  let written = 0;
  while (written < bytes && !stream.destroyed && !stream.closed) {
    const part = chunk.subarray(0, Math.min(chunk.length, bytes - written));
    written += part.length;
    if (!stream.write(part)) await roomOrEnd(stream);
  }
  return written;
}
