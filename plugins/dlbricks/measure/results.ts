import {
  type Limits,
  type Measurement,
  type MeasurementSetup,
  type MeasureRequest,
  type ResultStore,
  type RunOptions,
  setupKey,
  type System,
  withFingerprint,
} from '../../../src/plugin-api.js';
import type { Need } from '../bricks/needs.js';
import { benchmarkKey, type Observations, observationsOf } from '../estimate/observations.js';
import { taskKey } from './tasks.js';

/** A measurement to look up. */
export interface Wanted extends MeasurementSetup {
  readonly signature: string;
  readonly runOptions: RunOptions;
  readonly limits: Limits;
}

/** Key of a request's measurement. */
export function wantedOf({ benchmark, context, ...rest }: MeasureRequest): Wanted {
  return { signature: benchmark.signature, ...rest, ...(context === undefined ? {} : { context }) };
}

/** Key of a need's measurement on an occasion. */
export function wantedOfNeed(
  { signature, protocol, context, optimizationLevel }: Need,
  occasion: number,
  { runOptions, limits }: { readonly runOptions: RunOptions; readonly limits: Limits },
): Wanted {
  return {
    signature,
    protocol,
    occasion,
    limits,
    runOptions: optimizationLevel === undefined ? runOptions : { ...runOptions, optimizationLevel },
    ...(context === undefined ? {} : { context }),
  };
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

/** Measurements of one machine by benchmark and occasion. */
export class KnownResults {
  readonly #measurements = new Map<string, Measurement>();

  get(request: MeasureRequest): Measurement | undefined {
    return this.#measurements.get(taskKey(request));
  }

  put(measurement: Measurement): void {
    const { signature, context, occasion } = measurement;
    this.#measurements.set(`${benchmarkKey(signature, context)} on ${occasion}`, measurement);
  }

  /** Adds all measurements of another collection. */
  add(others: KnownResults): void {
    for (const measurement of others.#measurements.values()) this.put(measurement);
  }

  observations(): Observations {
    return observationsOf(this.#measurements.values());
  }
}

/** The reusable measurements that the store has of those that are looked up. */
export async function knownResults(
  wanted: readonly Wanted[],
  system: System,
  store: ResultStore,
): Promise<KnownResults> {
  const results = new KnownResults();
  const groups = new Map<string, { first: Wanted; fingerprint: string; signatures: string[] }>();
  for (const one of wanted) {
    const { fingerprint } = withFingerprint({ ...system, runOptions: one.runOptions });
    const key = `${fingerprint} ${setupKey(one)}`;
    const group = groups.get(key) ?? { first: one, fingerprint, signatures: [] };
    group.signatures.push(one.signature);
    groups.set(key, group);
  }
  for (const { first, fingerprint, signatures } of groups.values()) {
    const found = await store.findMeasurements(signatures, fingerprint, setupKey(first));
    for (const measurement of found.values()) if (isConclusive(measurement, first.limits)) results.put(measurement);
  }
  return results;
}
