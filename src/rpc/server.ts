import {
  type Metadata,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import net from 'node:net';
import { messageOf, PlatformError } from '../base/errors.js';
import { traceServerCall } from '../tracing/grpc.js';
import { ActiveCalls } from './active-calls.js';
import { checkToken } from './bearer-token.js';
import { Connections } from './connections.js';
import { GuardedServer } from './guarded-server.js';
import type { Health } from './health.js';
import { MAX_MESSAGE_BYTES, SERVER_LIMITS, type ServerLimits } from './limits.js';
import { FairLoop } from './fair-loop.js';
import { addressToListenOn, formatHostPort, type HostPort, isLoopbackAddress } from './loopback.js';
import { quietLibrary } from './quiet-library.js';
import { receiveRequests } from './receive-requests.js';
import type { ServerSecurity } from './security.js';
import { sendAnswers } from './send-answers.js';

const SHUTDOWN_LIMIT_MS = 2000;

export interface RpcServerOptions {
  readonly security?: ServerSecurity | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Only its own process calls it: it has no health check and no reflection, whose libraries take 0.1 s to load. */
  readonly isPrivate?: boolean | undefined;
}

export interface AddOptions<Implementation> {
  /** At most 64 MiB; 4 MiB for other methods. */
  readonly maxRequestBytes?: Partial<Readonly<Record<keyof Implementation, number>>>;
}

export interface RpcServer {
  readonly calls: ActiveCalls;

  isTrusted(call: { readonly metadata: Metadata }): boolean;

  holderOf(call: { readonly metadata: Metadata }): string;

  /** Of the call's connection, including those of incomplete messages. */
  receivedBytes(call: { getPeer(): string }): number;

  addService<Implementation extends UntypedServiceImplementation>(
    definition: ServiceDefinition<Implementation>,
    implementation: Implementation,
    options?: AddOptions<Implementation>,
  ): void;

  /**
   * @returns host:port; port 0 takes a free one
   * @throws PlatformError `usage` beyond loopback without TLS or a token, `unavailable` where it cannot listen
   */
  listen(address: HostPort): Promise<string>;

  /** Sends the reason to waiting clients, and stops. May be called again. */
  close(reason: PlatformError): Promise<void>;
}

function makeCredentials({ identity, clientCaPem }: ServerSecurity): ServerCredentials {
  if (identity === undefined) return ServerCredentials.createInsecure();
  const pair = { cert_chain: identity.certificatePem, private_key: identity.keyPem };
  return ServerCredentials.createSsl(clientCaPem ?? null, [pair], clientCaPem !== undefined);
}

export function assertProtected(host: string, address: string, security: ServerSecurity): void {
  if (isLoopbackAddress(address)) return;
  const { identity, token, acceptedTokens } = security;
  const missing = [
    ...(identity === undefined ? ['TLS (--tls-cert and --tls-key)'] : []),
    ...(token === undefined && acceptedTokens === undefined ? ['a token (--token-file or MLMODELSCOPE_TOKEN)'] : []),
  ];
  if (missing.length === 0) return;
  const message = `${host} can be reached from other machines, which needs ${missing.join(' and ')}`;
  throw new PlatformError('usage', `${message}; or listen on 127.0.0.1`);
}

function bind(listener: net.Server, host: string, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => {
      const message = `cannot listen on ${formatHostPort({ host, port })}: ${messageOf(cause)}; choose another address`;
      reject(new PlatformError('unavailable', message, { cause }));
    };
    listener.once('error', onError);
    listener.listen({ host: address, port }, () => {
      listener.off('error', onError);
      // From now on, errors concern single connections, for example too few file descriptors.
      listener.on('error', () => {});
      resolve((listener.address() as net.AddressInfo).port);
    });
  });
}

export function createRpcServer(options: RpcServerOptions = {}): RpcServer {
  quietLibrary();
  const { security = {} } = options;
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const loop = new FairLoop();
  const calls = new ActiveCalls(loop);
  const connections = new Connections(limits);
  const services: string[] = [];
  const check = checkToken(security);
  const server = new GuardedServer((formats) => ({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': limits.callsPerConnection,
    // Detects clients whose machine is gone: these do not cancel their calls.
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.enable_channelz': 0,
    interceptors: [
      sendAnswers(formats, connections, limits, loop),
      receiveRequests(formats, connections, limits, loop),
      ...(check === undefined ? [] : [check.interceptor]),
      traceServerCall,
    ],
  }));
  let health: Health | undefined;
  const injector = server.createConnectionInjector(makeCredentials(security));
  const listener = net.createServer((socket) => {
    connections.add(socket);
    injector.injectConnection(socket);
  });
  listener.maxConnections = limits.connections;

  async function stop(reason: PlatformError): Promise<void> {
    health?.stop();
    listener.close();
    calls.abort(reason);
    await new Promise<void>((resolve) => {
      // The library's forceShutdown ends no connection while channelz is off.
      const tooLong = setTimeout(() => connections.destroy(), SHUTDOWN_LIMIT_MS);
      server.tryShutdown(() => {
        clearTimeout(tooLong);
        resolve();
      });
    });
    connections.destroy();
  }

  let stopped: Promise<void> | undefined;
  return {
    calls,
    isTrusted: ({ metadata }) => check === undefined || check.holderOf(metadata) !== undefined,

    holderOf: ({ metadata }) => check?.holderOf(metadata) ?? '',

    receivedBytes: (call) => connections.receivedBytes(call.getPeer()),

    addService(definition, implementation, { maxRequestBytes = {} } = {}) {
      server.addContractService(definition, implementation, new Map(Object.entries(maxRequestBytes)));
      const path = Object.values(definition)[0]?.path ?? '';
      const name = path.slice(1, path.lastIndexOf('/'));
      services.push(name);
    },

    async listen({ host, port }) {
      const address = await addressToListenOn(host);
      assertProtected(host, address, security);
      if (options.isPrivate !== true) {
        const { addHealth } = await import('./health.js');
        const { addReflection } = await import('./reflection.js');
        health = addHealth(server, services);
        addReflection(server, services);
      }
      const boundPort = await bind(listener, host, address, port);
      return formatHostPort({ host, port: boundPort });
    },

    close: (reason) => (stopped ??= stop(reason)),
  };
}
