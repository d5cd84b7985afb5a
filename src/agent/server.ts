import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { messageOf, PlatformError } from '../errors.js';
import { onnxRuntimeFramework } from '../predictor/onnxruntime/framework.js';
import { ActiveCalls } from '../rpc/active-calls.js';
import { addBenchmarkService } from './benchmark-service.js';
import { MAX_MESSAGE_BYTES } from '../rpc/message-size.js';
import { readMachine } from './describe-system.js';
import { MeasureRunner } from './measure-runner.js';
import { addPredictService, type ResolveModel } from './predict-service.js';
import { removeStaleFolders } from './temporary-folder.js';

const SERVICES = ['mlmodelscope.benchmark.v1.BenchmarkService', 'mlmodelscope.org.dlframework.Predict'];

/** How long calls that were told to stop may take to do so. */
const SHUTDOWN_LIMIT_MS = 2000;

const SERVER_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_concurrent_streams': 100,
  // A client whose machine is gone cancels nothing: it is noticed because it does not answer.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

export interface AgentOptions {
  /** Loopback by default: there is no authentication. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Without it, no model can be opened by name; measuring needs none. */
  readonly resolveModel?: ResolveModel;
}

export interface RunningAgent {
  /** host:port, as `connectAgent` takes it. */
  readonly address: string;
  /** Stops measuring, ends every process that this agent started, and stops listening. May be called again. */
  close(): Promise<void>;
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const address = addressOf(host, port);
    server.bindAsync(address, ServerCredentials.createInsecure(), (cause, boundPort) => {
      if (cause === null) resolve(boundPort);
      else {
        const message = `the agent cannot listen on ${address}: ${messageOf(cause)}; choose another address`;
        reject(new PlatformError('unavailable', message, { cause }));
      }
    });
  });
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const tooLong = setTimeout(() => server.forceShutdown(), SHUTDOWN_LIMIT_MS);
    server.tryShutdown(() => {
      clearTimeout(tooLong);
      resolve();
    });
  });
}

const knowsNoModels: ResolveModel = (name) => {
  return Promise.reject(new PlatformError('not_found', `this agent knows no models, so not ${name} either`));
};

/**
 * Serves this machine over gRPC: measures benchmarks, one at a time, opens models, answers health checks. All heavy work
 * happens in child processes, so that it always answers.
 *
 * @throws PlatformError `unavailable` where it cannot listen
 */
export async function startAgent(options: AgentOptions = {}): Promise<RunningAgent> {
  const { host = '127.0.0.1', port = 0, resolveModel = knowsNoModels } = options;
  // What goes wrong is thrown or answered; the library would print it as well.
  if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);
  const server = new Server(SERVER_OPTIONS);
  const calls = new ActiveCalls();
  const runner = new MeasureRunner();
  const shared = { machine: readMachine(), framework: onnxRuntimeFramework(), runner, calls };
  addBenchmarkService(server, shared);
  addPredictService(server, { ...shared, resolveModel });
  const health = new HealthImplementation(Object.fromEntries(['', ...SERVICES].map((name) => [name, 'SERVING'])));
  health.addToServer(server);
  const boundPort = await listen(server, host, port);
  await removeStaleFolders();

  const stop = async (): Promise<void> => {
    for (const name of ['', ...SERVICES]) health.setStatus(name, 'NOT_SERVING');
    calls.abort(new PlatformError('unavailable', 'the agent is shutting down'));
    await runner.close();
    await shutDown(server);
  };
  let stopped: Promise<void> | undefined;
  return {
    address: addressOf(host, boundPort),
    close: () => (stopped ??= stop()),
  };
}
