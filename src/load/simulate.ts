import { Batcher, type Batching } from './batcher.js';
import { type LoadClock, VirtualClock } from './clock.js';
import { type Answer, type QueryRecord, type Target, Trial, type TrialOptions, type TrialOutcome } from './trial.js';

export interface ServiceTimes {
  /** Of one run. @param startMs by the simulation's clock */
  readonly runMs: (samples: number, startMs: number) => number;
  /** From sending a query until the server has it. @param sentMs by the simulation's clock */
  readonly handoverMs?: (sentMs: number) => number;
  /** From the end of a run until its client knows. */
  readonly returnMs?: number | undefined;
  /** From the end of a run until the next one can start. */
  readonly betweenMs?: number;
}

/** A server that only lets the time of the clock pass. */
export function simulatedTarget(clock: LoadClock, batching: Batching, times: ServiceTimes): Target {
  const { runMs, handoverMs = () => 0, returnMs = 0, betweenMs = 0 } = times;
  const batcher = new Batcher<(answer: Answer) => void>(batching, clock, (items, batch, done) => {
    const startedMs = clock.now();
    const finishedMs = startedMs + runMs(batch, startedMs);
    clock.at(finishedMs + returnMs, () => {
      for (const answered of items) answered({ startedMs, finishedMs, batch });
    });
    clock.at(finishedMs + betweenMs, done);
  });
  return {
    send(samples, answered) {
      const sentMs = clock.now();
      const handedMs = sentMs + handoverMs(sentMs);
      if (handedMs === sentMs) batcher.add(answered, samples);
      else clock.at(handedMs, () => batcher.add(answered, samples));
    },
  };
}

export interface SimulatedTrial extends TrialOutcome {
  readonly records: readonly QueryRecord[];
}

export function simulateTrial(
  options: TrialOptions,
  batching: Batching,
  servers: readonly ServiceTimes[],
): SimulatedTrial {
  const clock = new VirtualClock();
  const records: QueryRecord[] = [];
  let outcome: TrialOutcome | undefined;
  const targets = servers.map((times) => simulatedTarget(clock, batching, times));
  new Trial(
    options,
    targets,
    clock,
    (record) => records.push(record),
    (ended) => (outcome = ended),
  ).start();
  clock.run(() => outcome !== undefined);
  if (outcome === undefined) throw new Error('the simulation ended before its trial');
  return { ...outcome, records };
}
