import { maxOf, partsOf } from '../../base/long-lists.js';
import { LoadServiceService, type ServeResponse } from '../../generated/mlmodelscope/load/v1/load.js';
import { clockId } from '../../base/clock-id.js';
import { PlatformError } from '../../base/errors.js';
import type { Answer, Target } from '../../load/trial.js';
import { type Conditions, withoutOwn } from '../../measurement/conditions.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import type { MeasureProgress } from '../benchmark-agent.js';
import { fromWireProgress } from '../wire/benchmark-wire.js';
import { conditionsIn, type ServeRequest, toWireOpen } from '../wire/load-wire.js';

/** Waiting for its turn, on top of the call's own time limit. */
const TURN_WAIT_MS = 12 * 3600_000;

/** Readings of the agent's clock; the one with the shortest round trip counts. */
const READINGS = 32;

/** Queries of one message; the wire takes no message of many more values. */
const QUERIES_AT_ONCE = 10_000;

/** The agent ends the call of a client that is silent for a minute. */
const SIGN_OF_LIFE_MS = 15_000;

export interface ServingOptions {
  readonly client?: RpcClientOptions | undefined;
  readonly onProgress?: ((progress: MeasureProgress) => void) | undefined;
}

export interface ServingEnd {
  /** null where the server does not say. */
  readonly conditions: Conditions | null;
}

export interface Serving {
  readonly target: Target;
  /**
   * Reads the server's clock again. @returns how far it moved against this process's since the last reading; 0 where
   * they are one clock
   */
  readDriftMs?(): Promise<number>;
  /** Ends the call. @throws PlatformError where the agent failed meanwhile */
  close(): Promise<ServingEnd>;
}

/** From this process's own clock to the machine's. The first readings take long; the two clocks are never read late. */
const OFFSET_MS = maxOf(Array.from({ length: 100 }, () => Number(process.hrtime.bigint()) / 1e6 - performance.now()));

/** The monotonic clock of this machine, which is the one of an agent on it. Reading it allocates nothing. */
export function nowMs(): number {
  return performance.now() + OFFSET_MS;
}

/** Has an agent open a model and keep its machine's turn until the end. */
export async function connectServing(
  address: string,
  request: ServeRequest,
  { client: clientOptions, onProgress }: ServingOptions,
): Promise<Serving> {
  const client = createRpcClient(address, 'agent', clientOptions);
  const call = client.duplex(LoadServiceService.serve, { deadlineMs: request.limits.timeLimitMs + TURN_WAIT_MS });
  const waiting = new Map<number, (answer: Answer) => void>();
  let offsetMs = 0;
  let nextId = 0;
  let failure: PlatformError | undefined;
  let unsent: { id: number; samples: number }[] = [];
  let onReady: (id: string) => void = () => undefined;
  let onClock: (nowNs: bigint) => void = () => undefined;
  let conditions: Conditions | null = null;
  let isSilent = false;

  const toMs = (ns: bigint): number => Number(ns) / 1e6 - offsetMs;
  const handle = ({ event }: ServeResponse): void => {
    switch (event?.$case) {
      case 'progress': {
        const progress = fromWireProgress(event.value);
        if (progress !== undefined) onProgress?.(progress);
        return;
      }
      case 'ready':
        onReady(event.value.clockId);
        return;
      case 'clock':
        onClock(event.value.nowNs);
        return;
      case 'closed':
        conditions = conditionsIn(event.value) ?? null;
        return;
      case 'answers':
        for (const { id, startedNs, finishedNs, batch, error } of event.value.answers) {
          const answered = waiting.get(id);
          waiting.delete(id);
          const times = { startedMs: toMs(startedNs), finishedMs: toMs(finishedNs) };
          answered?.({ ...times, batch, ...(error === '' ? {} : { error }) });
        }
        return;
      case undefined:
    }
  };
  const ended = new Promise<void>((resolve) => {
    call.on('data', (message: ServeResponse) => {
      try {
        client.decodeAnswer(() => handle(message));
      } catch (error) {
        failure = error as PlatformError;
        call.cancel();
      }
    });
    call.on('error', (error: unknown) => {
      failure ??= client.failure(error);
      resolve();
    });
    call.on('end', resolve);
  }).then(() => {
    const error = failure?.message ?? `the agent at ${address} ended the load run`;
    for (const answered of waiting.values()) {
      answered({ startedMs: null, finishedMs: nowMs(), batch: null, error, isLast: true });
    }
    waiting.clear();
  });
  const unlessEnded = async <T>(what: Promise<T>): Promise<T> => {
    const first = await Promise.race([what.then((value) => ({ value })), ended]);
    if (first !== undefined) return first.value;
    client.close();
    throw failure ?? new PlatformError('unavailable', `the agent at ${address} ended the load run`);
  };

  async function readOffset(): Promise<number> {
    let shortestMs = Infinity;
    let best = 0;
    isSilent = false;
    for (let reading = 0; reading < READINGS; reading++) {
      const sentMs = nowMs();
      const asked = new Promise<bigint>((resolve) => (onClock = resolve));
      call.write({ request: { $case: 'readClock', value: {} } });
      const serverMs = Number(await unlessEnded(asked)) / 1e6;
      const receivedMs = nowMs();
      if (receivedMs - sentMs >= shortestMs) continue;
      shortestMs = receivedMs - sentMs;
      best = serverMs - (sentMs + receivedMs) / 2;
    }
    return best;
  }

  const ready = new Promise<string>((resolve) => (onReady = resolve));
  call.write({ request: { $case: 'open', value: toWireOpen(request) } });
  const serversClock = await unlessEnded(ready);
  const isOneClock = serversClock !== '' && serversClock === clockId();
  const readySince = process.cpuUsage();
  const readDriftMs = async (): Promise<number> => {
    const beforeMs = offsetMs;
    if (!isOneClock) offsetMs = await readOffset();
    return offsetMs - beforeMs;
  };
  await readDriftMs();

  const life = setInterval(() => {
    if (isSilent && call.writable) call.write({ request: { $case: 'readClock', value: {} } });
    isSilent = true;
  }, SIGN_OF_LIFE_MS);
  void ended.then(() => clearInterval(life));

  const flush = (): void => {
    const queries = unsent;
    unsent = [];
    isSilent = false;
    if (!call.writable) return;
    for (const some of partsOf(queries, QUERIES_AT_ONCE)) {
      call.write({ request: { $case: 'queries', value: { queries: [...some] } } });
    }
  };

  return {
    target: {
      send(samples, answered) {
        if (failure !== undefined || !call.writable) {
          answered({ startedMs: null, finishedMs: nowMs(), batch: null, error: failure?.message ?? '', isLast: true });
          return;
        }
        const id = nextId++;
        waiting.set(id, answered);
        // Queries of one moment are one message.
        if (unsent.push({ id, samples }) === 1) queueMicrotask(flush);
      },
    },
    readDriftMs,
    async close() {
      try {
        call.end();
        await ended;
        if (failure !== undefined) throw failure;
        return { conditions: isOneClock && conditions ? withoutOwn(conditions, readySince) : conditions };
      } finally {
        client.close();
      }
    },
  };
}
