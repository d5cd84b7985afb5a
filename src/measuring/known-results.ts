import type { MeasureRequest } from '../agent/benchmark-agent.js';
import { groupedBy } from '../base/grouped-by.js';
import { type Measurement, type MeasurementSetup, setupKey } from '../measurement/measurement.js';
import type { Limits } from '../measurement/protocol.js';
import { identifySystem, type RunOptions, type SystemFacts } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import { resultKey, taskKey } from './task.js';

export interface Wanted extends MeasurementSetup {
  readonly signature: string;
  readonly runOptions: RunOptions;
  readonly limits: Limits;
}

export function buildWanted({ benchmark, context, runOptions, protocol, occasion, limits }: MeasureRequest): Wanted {
  const wanted = { signature: benchmark.signature, runOptions, protocol, occasion, limits };
  return context === undefined ? wanted : { ...wanted, context };
}

/** Whether a measurement can be reused. A failure can, unless the limit that caused it has been raised. */
export function isConclusive({ outcome, limits }: Measurement, asked: Limits): boolean {
  if (outcome.kind === 'samples') return true;
  switch (outcome.reason) {
    case 'timeout':
      return asked.timeLimitMs <= limits.timeLimitMs;
    case 'out_of_memory':
      return asked.memoryLimitBytes <= limits.memoryLimitBytes;
    case 'unsupported':
    case 'run_failed':
      return true;
    case 'crashed':
      return false;
  }
}

/** Measurements of one machine by benchmark, context and occasion. */
export class KnownResults {
  readonly #measurements = new Map<string, Measurement>();
  readonly #outdated = new Map<string, string>();

  get(request: MeasureRequest): Measurement | undefined {
    return this.#measurements.get(taskKey(request));
  }

  put(measurement: Measurement): void {
    this.#measurements.set(resultKey(measurement), measurement);
  }

  /** The result does not count any more. That the store still has it is no news. */
  outdate(request: MeasureRequest): void {
    const key = taskKey(request);
    const measurement = this.#measurements.get(key);
    if (measurement === undefined) return;
    this.#measurements.delete(key);
    this.#outdated.set(key, measurement.measuredAt);
  }

  /** When the last known result was measured, also where it does not count any more. */
  measuredAt(request: MeasureRequest): string | undefined {
    return this.get(request)?.measuredAt ?? this.#outdated.get(taskKey(request));
  }

  add(others: KnownResults): void {
    for (const measurement of others.#measurements.values()) this.put(measurement);
  }

  measurements(): Iterable<Measurement> {
    return this.#measurements.values();
  }
}

/** The wanted measurements that the store has and that can be reused. */
export async function knownResults(
  wanted: readonly Wanted[],
  facts: SystemFacts,
  store: Pick<ResultStore, 'findMeasurements'>,
): Promise<KnownResults> {
  const results = new KnownResults();
  const systemOf = ({ runOptions }: Wanted): string => identifySystem(facts, runOptions).fingerprint;
  for (const group of groupedBy(wanted, (one) => `${systemOf(one)} ${setupKey(one)}`).values()) {
    const [first] = group;
    const signatures = group.map(({ signature }) => signature);
    const found = await store.findMeasurements(signatures, systemOf(first), setupKey(first));
    for (const measurement of found.values()) if (isConclusive(measurement, first.limits)) results.put(measurement);
  }
  return results;
}
