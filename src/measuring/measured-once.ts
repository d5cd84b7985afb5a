import { isUnderLoad } from '../measurement/disturbance.js';
import { type Measurement, setupKey } from '../measurement/measurement.js';
import { type System, withFingerprint } from '../measurement/system.js';
import type { Holder } from '../store/leases/holder.js';
import { Leases } from '../store/leases/leases.js';
import { measurementId } from '../store/measurement-id.js';
import type { ResultStore } from '../store/result-store.js';
import { type KnownResults, knownResults, wantedOf } from './known-results.js';
import type { Task } from './task.js';
import { unlessGone } from './unless-gone.js';

/** The shares of tasks that are about to be measured. */
export interface Shares {
  /** To be measured here; no other process takes them until {@link MeasuredOnce.release}. */
  readonly own: readonly Task[];
  /** Measured by others since they were looked up; the results have them now. */
  readonly arrived: readonly Task[];
  /** Being measured by others. */
  readonly awaited: readonly Task[];
  /** The processes that measure them. */
  readonly others: readonly Holder[];
}

/**
 * Takes each measurement once for all processes: the one that measures holds a lease on the measurement in the store,
 * and the others wait and read. Leases are on measurements (benchmark, system, protocol, context and occasion), so that
 * evaluations share exactly their common measurements.
 */
export class MeasuredOnce {
  readonly #leases: Leases;

  /** @param results where measurements of others go */
  constructor(
    private readonly store: ResultStore,
    private readonly system: System,
    private readonly results: KnownResults,
  ) {
    this.#leases = new Leases(store, 'measurement');
  }

  /**
   * Divides tasks into those to measure here and those that others measure. May be called again for the latter.
   *
   * @throws PlatformError as the store does; where its server is gone, all is to be measured here
   */
  async share(tasks: readonly Task[]): Promise<Shares> {
    const names = new Map(tasks.map((task) => [task, this.#nameOf(task)]));
    const held = await this.#take([...names.values()]);
    // Look only now: measurements from before the lease was free are in the store.
    const found = await this.#foundNow(tasks);
    const arrived: Task[] = [];
    const own: Task[] = [];
    const awaited: Task[] = [];
    const others = new Map<string, Holder>();
    for (const [task, name] of names) {
      const holder = held.get(name);
      const measurement = found.get(task);
      // The lease's holder may be about to repeat a disturbed measurement.
      if (measurement !== undefined && (holder === undefined || !isUnderLoad(measurement))) {
        this.results.put(measurement);
        arrived.push(task);
      } else if (holder === undefined) {
        own.push(task);
      } else {
        awaited.push(task);
        others.set(holder.id, holder);
      }
    }
    return { own, arrived, awaited, others: [...others.values()] };
  }

  /** Lets others have the tasks that were not measured. The measurements are in the store by now. */
  async release(): Promise<void> {
    await unlessGone(this.#leases.release());
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #take(names: readonly string[]): Promise<ReadonlyMap<string, Holder>> {
    return (await unlessGone(this.#leases.take(names))) ?? new Map<string, Holder>();
  }

  /** New measurements in the store. A measurement that was known before is the one to be taken again. */
  async #foundNow(tasks: readonly Task[]): Promise<ReadonlyMap<Task, Measurement>> {
    const stored = await knownResults(
      tasks.map(({ request }) => wantedOf(request)),
      this.system,
      this.store,
    );
    const found = new Map<Task, Measurement>();
    for (const task of tasks) {
      const measurement = stored.get(task.request);
      const before = this.results.get(task.request);
      if (measurement !== undefined && measurement.measuredAt !== before?.measuredAt) found.set(task, measurement);
    }
    return found;
  }

  #nameOf({ request }: Task): string {
    const { signature, runOptions, ...setup } = wantedOf(request);
    const { fingerprint } = withFingerprint({ ...this.system, runOptions });
    return measurementId({ signature, system: fingerprint, setup: setupKey(setup) }) ?? signature;
  }
}
