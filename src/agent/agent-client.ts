import { type CallOptions, Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import { messageOf, PlatformError } from '../errors.js';
import { BenchmarkServiceService, type Measurement } from '../generated/mlmodelscope/benchmark/v1/benchmark.js';
import type { BenchmarkAgent, MeasureOptions } from './benchmark-agent.js';
import { cancellationOf, throwIfCancelled } from '../cancellation.js';
import { MAX_MESSAGE_BYTES } from '../rpc/limits.js';
import { errorOf } from '../rpc/status.js';
import * as wire from './wire.js';

const { describeSystem, inferTypes, measure, optimize } = BenchmarkServiceService;

const DESCRIBE_DEADLINE_MS = 10_000;

/** Waiting for a turn behind other clients' measurements included. */
const INFER_TYPES_DEADLINE_MS = 30 * 60_000;

const OPTIMIZE_DEADLINE_MS = INFER_TYPES_DEADLINE_MS;

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  // A measurement has no deadline, because it waits for its turn: an agent that is gone is noticed by this.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A proxy for the web has no business between this machine and itself, or an agent in a network that it trusts.
  'grpc.enable_http_proxy': 0,
};

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

interface Cancellable {
  cancel(): void;
}

/** Cancels the call when the signal aborts; the returned function ends that. */
function cancelWith(signal: AbortSignal | undefined, call: Cancellable): () => void {
  const cancel = (): void => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

/**
 * An agent behind an address, host:port. Connects with the first request.
 *
 * Beyond {@link BenchmarkAgent}: `internal` where the agent answers with something that makes no sense.
 */
export function connectAgent(address: string): BenchmarkAgent {
  const client = new Client(address, credentials.createInsecure(), CHANNEL_OPTIONS);

  function failed(answer: StatusObject, signal: AbortSignal | undefined): PlatformError {
    return signal?.aborted === true ? cancellationOf(signal) : errorOf(answer, address);
  }

  function callUnary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { signal, deadlineMs }: { readonly signal?: AbortSignal | undefined; readonly deadlineMs: number },
  ): Promise<Response> {
    throwIfCancelled(signal);
    const { path, requestSerialize, responseDeserialize } = method;
    const options: CallOptions = { deadline: Date.now() + deadlineMs };
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        options,
        (error, response) => {
          release();
          if (error !== null) reject(failed(error, signal));
          else if (response !== undefined) resolve(response);
        },
      );
      const release = cancelWith(signal, call);
    });
  }

  /** What is wrong with an answer is not the caller's fault. */
  function understand<T>(convert: () => T): T {
    try {
      return convert();
    } catch (cause) {
      const message = `the agent at ${address} answers with something that this version does not understand`;
      throw new PlatformError('internal', `${message}: ${messageOf(cause)}`, { cause });
    }
  }

  function callMeasure(
    request: Parameters<typeof measure.requestSerialize>[0],
    { signal, onProgress }: MeasureOptions,
  ): Promise<Measurement> {
    throwIfCancelled(signal);
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = measure;
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
      const release = cancelWith(signal, call);
      let measurement: Measurement | undefined;
      call.on('data', ({ event }: ReturnType<typeof responseDeserialize>) => {
        if (event?.$case === 'measurement') measurement = event.value;
        const progress = event?.$case === 'progress' ? wire.fromWireProgress(event.value) : undefined;
        if (progress !== undefined) onProgress?.(progress);
      });
      call.on('error', (error) => {
        release();
        reject(failed(error as unknown as StatusObject, signal));
      });
      call.on('end', () => {
        release();
        if (measurement !== undefined) resolve(measurement);
        else reject(new PlatformError('internal', `the agent at ${address} ended a measurement without a result`));
      });
    });
  }

  return {
    async system(runOptions) {
      const response = await callUnary(describeSystem, { runOptions }, { deadlineMs: DESCRIBE_DEADLINE_MS });
      return understand(() => wire.fromWireSystem(response.system));
    },

    async measure(benchmark, runOptions, protocol, options = {}) {
      const request = {
        benchmark: wire.toWireBenchmark(benchmark),
        runOptions,
        protocol: wire.toWireProtocol(protocol),
      };
      const measurement = await callMeasure(request, options);
      const measuredAt = new Date().toISOString();
      return understand(() => wire.fromWireMeasurement(measurement, protocol, measuredAt));
    },

    async inferTypes(benchmark, signal) {
      const request = { benchmark: wire.toWireBenchmark(benchmark) };
      const response = await callUnary(inferTypes, request, { signal, deadlineMs: INFER_TYPES_DEADLINE_MS });
      return understand(() => wire.fromWireValues(response.values));
    },

    async optimize(benchmark, runOptions, signal) {
      const request = { benchmark: wire.toWireBenchmark(benchmark), runOptions };
      const response = await callUnary(optimize, request, { signal, deadlineMs: OPTIMIZE_DEADLINE_MS });
      return understand(() => ({
        benchmark: wire.fromWireBenchmark(response.benchmark),
        values: wire.fromWireValues(response.values),
      }));
    },

    close() {
      client.close();
      return Promise.resolve();
    },
  };
}
