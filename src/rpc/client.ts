import {
  type CallOptions,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { cancellationOf, throwIfCancelled } from '../base/cancellation.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { traceClientCall } from '../tracing/grpc.js';
import { addToken } from './bearer-token.js';
import { endAfter } from './call-deadline.js';
import { MAX_MESSAGE_BYTES } from './limits.js';
import { EXPECTED_ADDRESS, isLoopbackHost, parseHostPort } from './loopback.js';
import { repeatableMethods } from '../base/method-kind.js';
import { quietLibrary } from './quiet-library.js';
import type { ClientSecurity } from './security.js';
import { fromStatus, type PeerKind } from './status.js';

export interface RpcClientOptions {
  readonly security?: ClientSecurity | undefined;
  /** By default, TLS is used beyond loopback, and if `security` has TLS settings. */
  readonly tls?: boolean | undefined;
  /** For a process without tracing that works for a trace. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly connectLimitMs?: number | undefined;
}

const CONNECT_LIMIT_MS = 20_000;

export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export interface RpcCallOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type RpcClient = ReturnType<typeof createRpcClient>;

/** Up to three attempts within about a second, for calls that may be repeated. */
const SERVICE_CONFIG = JSON.stringify({
  methodConfig: [
    {
      name: repeatableMethods().map((path) => {
        const [, service, method] = path.split('/');
        return { service, method };
      }),
      retryPolicy: {
        maxAttempts: 3,
        initialBackoff: '0.3s',
        maxBackoff: '1s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
});

const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  // Detects that a machine is gone: calls that wait for their turn have long deadlines.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 200,
  // No web proxy between this machine and itself, or between this machine and an agent in a trusted network.
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  // Another client's connection that does not come about would be this one's as well.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config': SERVICE_CONFIG,
};

function cancelWith(signal: AbortSignal | undefined, call: { cancel(): void }): () => void {
  const cancel = (): void => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

function isStatus(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error;
}

/**
 * Connects with its first call. Beyond loopback, it always uses TLS. Every method throws a PlatformError: `unavailable`
 * without an answer, `timeout` past the deadline, `cancelled` after the signal, else the error that the other side
 * answers.
 *
 * @throws PlatformError `usage` where the address is not HOST:PORT
 */
export function createRpcClient(address: string, kind: PeerKind, options: RpcClientOptions = {}) {
  quietLibrary();
  const { security = {}, headers = {}, connectLimitMs = CONNECT_LIMIT_MS } = options;
  const { caPem, identity } = security;
  const wantsTls = options.tls ?? (caPem !== undefined || identity !== undefined);
  const host = parseHostPort(address)?.host;
  if (host === undefined)
    throw new PlatformError('usage', `the address of the ${kind} is "${address}"; ${EXPECTED_ADDRESS}`);
  const channel =
    isLoopbackHost(host) && !wantsTls
      ? credentials.createInsecure()
      : credentials.createSsl(caPem, identity?.keyPem, identity?.certificatePem);
  let client = new Client(address, channel, CHANNEL_OPTIONS);
  let isClosed = false;
  let hasAnswered = false;
  const noteAnswer = (): void => void (hasAnswered = true);

  function failure(error: unknown, signal?: AbortSignal): PlatformError {
    if (signal?.aborted === true) return cancellationOf(signal);
    if (isStatus(error)) return fromStatus(error, { kind, address, hasAnswered });
    return new PlatformError('unavailable', `the call to the ${kind} at ${address} broke off: ${messageOf(error)}`);
  }

  function metadata(): Metadata {
    const made = new Metadata();
    for (const [name, value] of Object.entries(headers)) made.set(name, value);
    if (security.token !== undefined) addToken(made, security.token);
    return made;
  }

  function callOptions({ deadlineMs }: RpcCallOptions): CallOptions {
    const used = client;
    const isConnecting = (): boolean => used.getChannel().getConnectivityState(false) === connectivityState.CONNECTING;
    const connectAnew = (): void => {
      if (used !== client || isClosed) return;
      client = new Client(address, channel, CHANNEL_OPTIONS);
      used.close();
    };
    const connecting = { limitMs: connectLimitMs, isConnecting, giveUp: connectAnew };
    return { interceptors: [traceClientCall, endAfter(deadlineMs, connecting)] };
  }

  return {
    unary<Request, Response>(
      { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
      request: Request,
      callWith: RpcCallOptions,
    ): Promise<Response> {
      const { signal } = callWith;
      return new Promise((resolve, reject) => {
        throwIfCancelled(signal);
        const call = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          metadata(),
          callOptions(callWith),
          (error, response) => {
            release();
            if (error !== null) reject(failure(error, signal));
            else if (response !== undefined) resolve(response);
          },
        );
        call.once('metadata', noteAnswer);
        const release = cancelWith(signal, call);
      });
    },

    /** Reading stops while the caller takes no answers. Leaving the loop cancels the call. */
    async *stream<Request, Response>(
      { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
      request: Request,
      callWith: RpcCallOptions,
    ): AsyncGenerator<Response, undefined, undefined> {
      const { signal } = callWith;
      throwIfCancelled(signal);
      const call = client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata(),
        callOptions(callWith),
      );
      call.once('metadata', noteAnswer);
      const release = cancelWith(signal, call);
      try {
        for await (const message of call) yield message as Response;
      } catch (error) {
        throw failure(error, signal);
      } finally {
        release();
        call.cancel();
      }
    },

    duplex<Request, Response>(
      { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
      callWith: RpcCallOptions,
    ): ClientDuplexStream<Request, Response> {
      throwIfCancelled(callWith.signal);
      const call = client.makeBidiStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        metadata(),
        callOptions(callWith),
      );
      call.once('metadata', noteAnswer);
      call.once('close', cancelWith(callWith.signal, call));
      return call;
    },

    failure,

    /** @throws PlatformError `internal` for an invalid answer, which is not the caller's fault */
    decodeAnswer<T>(convert: () => T): T {
      try {
        return convert();
      } catch (cause) {
        const message = `the ${kind} at ${address} gives an answer that this version does not understand`;
        throw new PlatformError('internal', `${message}: ${messageOf(cause)}`, { cause });
      }
    },

    /** Calls back once, also where there is no connection. */
    onceDisconnected(then: () => void): void {
      const channel = client.getChannel();
      const { READY } = connectivityState;
      // The state is read only: a call connects, not this.
      if (channel.getConnectivityState(false) === READY) channel.watchConnectivityState(READY, Infinity, then);
      else then();
    },

    close: (): void => {
      isClosed = true;
      client.close();
    },
  };
}
