import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import net from 'node:net';
import { messageOf, PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { traceServerCall } from '../tracing/grpc.js';
import { ActiveCalls } from './active-calls.js';
import { checkToken } from './bearer-token.js';
import { Connections } from './connections.js';
import { MAX_MESSAGE_BYTES, SERVER_LIMITS, type ServerLimits } from './limits.js';
import { FairLoop } from './fair-loop.js';
import { addressToListenOn, formatHostPort, type HostPort, isLoopbackAddress } from './loopback.js';
import { contractFormat, type MessageFormat, standardFormat } from './message-format.js';
import { quietLibrary } from './quiet-library.js';
import { receiveRequests } from './receive-requests.js';
import type { ServerSecurity } from './security.js';
import { sendAnswers } from './send-answers.js';

const SHUTDOWN_LIMIT_MS = 2000;

const asItIs = (bytes: Buffer): Buffer => bytes;

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

export type RpcServer = ReturnType<typeof createRpcServer>;

export interface WithMetadata {
  readonly metadata: Metadata;
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

/** @param address of the host @returns host:port @throws PlatformError `unavailable` where it cannot listen */
export function bind(listener: net.Server, { host, port }: HostPort, address: string): Promise<string> {
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
      resolve(formatHostPort({ host, port: (listener.address() as net.AddressInfo).port }));
    });
  });
}

export function createRpcServer(options: RpcServerOptions = {}) {
  quietLibrary();
  const { security = {} } = options;
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const loop = new FairLoop();
  const calls = new ActiveCalls(loop);
  const connections = new Connections(limits);
  const services: string[] = [];
  const check = checkToken(security);
  const formats = new Map<string, MessageFormat>();
  const server = new Server({
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
  });
  let stopHealth: (() => void) | undefined;
  const injector = server.createConnectionInjector(makeCredentials(security));
  const listener = net.createServer((socket) => {
    connections.add(socket);
    injector.injectConnection(socket);
  });
  listener.maxConnections = limits.connections;

  /** The library passes requests and answers as bytes; interceptors decode and encode them. */
  function add(
    definition: ServiceDefinition,
    implementation: UntypedServiceImplementation,
    formatOf: (method: ServiceDefinition[string], name: string) => MessageFormat,
  ): void {
    const inBytes = Object.entries(definition).map(([name, method]) => {
      formats.set(method.path, formatOf(method, name));
      return [name, { ...method, requestDeserialize: asItIs, responseSerialize: asItIs }];
    });
    server.addService(Object.fromEntries(inBytes) as ServiceDefinition, implementation);
  }

  async function stop(reason: PlatformError): Promise<void> {
    stopHealth?.();
    listener.close();
    calls.abort(reason);
    await new Promise<void>((resolve) => {
      // The library's forceShutdown ends no connection while channelz is off. Its tryShutdown never calls back where a
      // session is destroyed, but not closed yet.
      const tooLong = setTimeout(resolve, SHUTDOWN_LIMIT_MS);
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
    isTrusted: ({ metadata }: WithMetadata): boolean => check === undefined || check.holderOf(metadata) !== undefined,

    holderOf: ({ metadata }: WithMetadata): string => check?.holderOf(metadata) ?? '',

    /** Of the call's connection, including those of incomplete messages. */
    receivedBytes: (call: { getPeer(): string }): number => connections.receivedBytes(call.getPeer()),

    addService<Implementation extends UntypedServiceImplementation>(
      definition: ServiceDefinition<Implementation>,
      implementation: Implementation,
      { maxRequestBytes = {} }: AddOptions<Implementation> = {},
    ): void {
      add(definition, implementation, (method, name) => contractFormat(method, ownValue(maxRequestBytes, name)));
      const path = Object.values(definition)[0]?.path ?? '';
      services.push(path.slice(1, path.lastIndexOf('/')));
    },

    /**
     * @returns host:port; port 0 takes a free one
     * @throws PlatformError `usage` beyond loopback without TLS or a token, `unavailable` where it cannot listen
     */
    async listen(at: HostPort): Promise<string> {
      const address = await addressToListenOn(at.host);
      assertProtected(at.host, address, security);
      if (options.isPrivate !== true) {
        const { addHealth } = await import('./health.js');
        const { addReflection } = await import('./reflection.js');
        const standard: Pick<Server, 'addService'> = {
          addService: (definition, implementation) => add(definition, implementation, standardFormat),
        };
        stopHealth = addHealth(standard, services);
        addReflection(standard, services);
      }
      return bind(listener, at, address);
    },

    /** Sends the reason to waiting clients, and stops. May be called again. */
    close: (reason: PlatformError): Promise<void> => (stopped ??= stop(reason)),
  };
}
