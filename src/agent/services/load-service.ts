import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import {
  LoadServiceService,
  type OpenModel,
  type ServeRequest,
  type ServeResponse,
} from '../../generated/mlmodelscope/load/v1/load.js';
import { clockId } from '../../base/clock-id.js';
import { attendedMs } from '../../base/clock.js';
import { PlatformError } from '../../base/errors.js';
import { MAX_OUTSTANDING } from '../../load/trial.js';
import { withoutOwn } from '../../measurement/conditions.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import type { ServingMessage } from '../jobs/job.js';
import { toWireConditions, toWireProgress } from '../wire/benchmark-wire.js';
import { fromWireOpen, MAX_SAMPLES } from '../wire/load-wire.js';
import { endedAs } from '../worker/job-end.js';
import { type BenchmarkServiceOptions, withWeightFile } from './benchmark-service.js';
import { defaultMemoryLimitBytes } from './describe-machine.js';

/** Longest silence of a client that waits for no answer: its model keeps others from measuring. */
const SILENCE_LIMIT_MS = 60_000;

export interface LoadServiceOptions extends BenchmarkServiceOptions {
  readonly silenceLimitMs?: number | undefined;
}

type Call = Parameters<handleBidiStreamingCall<ServeRequest, ServeResponse>>[0];

/** Resolves with the first request, which opens the model; `take` gets all others. */
function firstRequest(
  call: Call,
  take: (request: ServeRequest['request']) => void,
  signal: AbortSignal,
): Promise<OpenModel> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    call.on('data', ({ request }: ServeRequest) => {
      if (isOpen) take(request);
      else if (request?.$case === 'open') {
        isOpen = true;
        resolve(request.value);
      } else reject(new PlatformError('usage', 'the first request must be `open`'));
    });
    call.once('end', () => reject(new PlatformError('usage', 'the call ended without a request')));
    call.once('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** Calls `silent` once the client has sent nothing for the limit, although it could. @returns stops it */
function onSilence(
  call: Call,
  { limitMs, isExpected }: { readonly limitMs: number; readonly isExpected: () => boolean },
  silent: () => void,
): () => void {
  let heardAtMs = attendedMs();
  call.on('data', () => (heardAtMs = attendedMs()));
  const timer = setInterval(() => {
    if (isExpected()) heardAtMs = attendedMs();
    else if (attendedMs() - heardAtMs > limitMs) silent();
  }, limitMs / 4);
  return () => clearInterval(timer);
}

export function addLoadService(server: RpcServer, options: LoadServiceOptions): void {
  const { description, runner, weightFiles, silenceLimitMs = SILENCE_LIMIT_MS } = options;
  const { calls } = server;

  const serve: handleBidiStreamingCall<ServeRequest, ServeResponse> = (call) => {
    const wrong = new AbortController();
    let outstanding = 0;
    let isOpening = false;
    const stopListening = onSilence(
      call,
      { limitMs: silenceLimitMs, isExpected: () => isOpening || outstanding > 0 },
      () => {
        const problem = `the client sent nothing for ${silenceLimitMs / 1000} s`;
        wrong.abort(new PlatformError('usage', `${problem}; a client that has no queries reads the clock meanwhile`));
      },
    );
    const work = async (signal: AbortSignal): Promise<void> => {
      let send: ((message: ServingMessage) => void) | undefined;
      let servingSince: NodeJS.CpuUsage | undefined;
      let hasEnded = false;
      const take = (request: ServeRequest['request']): void => {
        if (request?.$case === 'readClock') {
          call.write({ event: { $case: 'clock', value: { nowNs: process.hrtime.bigint() } } });
          return;
        }
        const queries = request?.$case === 'queries' ? request.value.queries : undefined;
        outstanding += queries?.length ?? 0;
        const problem =
          queries === undefined || send === undefined
            ? 'queries are sent after `ready`, and nothing else'
            : queries.some(({ samples }) => samples < 1 || samples > MAX_SAMPLES)
              ? `a query has 1 to ${MAX_SAMPLES} samples`
              : outstanding > MAX_OUTSTANDING
                ? `more than ${MAX_OUTSTANDING} queries wait`
                : undefined;
        if (problem === undefined && queries) {
          const receivedNs = process.hrtime.bigint();
          send?.({ kind: 'queries', queries: queries.map(({ id, samples }) => ({ id, samples, receivedNs })) });
        } else wrong.abort(new PlatformError('usage', problem ?? ''));
      };
      const end = (): void => {
        hasEnded = true;
        send?.({ kind: 'end' });
      };
      const asked = firstRequest(call, take, wrong.signal);
      call.once('end', end);
      const { limits, models, ...request } = fromWireOpen(await asked, defaultMemoryLimitBytes(description));
      isOpening = true;
      const withWeights = [...models].map(([samples, one]) => [samples, withWeightFile(one, weightFiles)] as const);
      const { memoryLimitBytes } = limits;
      const job = { kind: 'serve', ...request, models: new Map(withWeights), memoryLimitBytes } as const;
      const { end: ended } = await runner.run(job, limits, {
        signal: AbortSignal.any([signal, wrong.signal]),
        onProgress: (progress) => calls.tell(call, toWireProgress(progress), signal),
        onServing: (toProcess) => {
          send = toProcess;
          servingSince = process.cpuUsage();
          isOpening = false;
          if (hasEnded) end();
          else call.write({ event: { $case: 'ready', value: { clockId: clockId() } } });
        },
        onAnswers: (answers) => {
          outstanding -= answers.length;
          call.write({ event: { $case: 'answers', value: { answers: [...answers] } } });
        },
      });
      const { conditions, peakMemoryBytes } = endedAs(ended, 'served').served;
      const ofOthers = conditions && servingSince && withoutOwn(conditions, servingSince);
      const closed = { conditions: toWireConditions(ofOthers), peakMemoryBytes: BigInt(Math.round(peakMemoryBytes)) };
      call.write({ event: { $case: 'closed', value: closed } });
    };
    void calls.stream(call, work).finally(stopListening);
  };

  server.addService(LoadServiceService, { serve }, { maxRequestBytes: { serve: MAX_MESSAGE_BYTES } });
}
