import { isUnderLoad } from '../measurement/disturbance.js';
import { type Measurement, setupKey } from '../measurement/measurement.js';
import { identifySystem, type System } from '../measurement/system.js';
import type { Holder } from '../store/leases/holder.js';
import { Leases } from '../store/leases/leases.js';
import { measurementId } from '../store/measurement-id.js';
import type { ResultStore } from '../store/result-store.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';
import { type KnownResults, knownResults, wantedOf } from './known-results.js';
import type { Task } from './task.js';

/** Tasks to measure, divided by the processes that measure them. */
export interface Shares {
  /** Tasks to measure here; no other process takes them until {@link MeasuredOnce.release}. */
  readonly own: readonly Task[];
  /** Tasks that others have measured since they were looked up; the results have them now. */
  readonly arrived: readonly Task[];
  /** Tasks that others measure now. */
  readonly awaited: readonly Task[];
  /** The processes that measure the awaited tasks. */
  readonly others: readonly Holder[];
}

/**
 * Takes each measurement once for all processes: the process that measures holds a lease on the measurement in the
 * store, and the other processes wait and read the result. Leases are on measurements (benchmark, system, protocol,
 * context and occasion), so that evaluations share exactly their common measurements.
 */
export class MeasuredOnce {
  readonly #leases: Leases;

  /** @param results gets the measurements of others */
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
   * @throws PlatformError as the store does; where its server is gone, all tasks are measured here
   */
  async share(tasks: readonly Task[]): Promise<Shares> {
    const names = new Map(tasks.map((task) => [task, this.#nameOf(task)]));
    const held = await this.#take([...names.values()]);
    // Look after taking the leases: other processes store their measurements before they release a lease.
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

  /**
   * Releases the leases, so that others can take the tasks that are not measured. The caller must have stored all
   * measurements before.
   */
  async release(): Promise<void> {
    await unlessUnavailable(this.#leases.release());
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #take(names: readonly string[]): Promise<ReadonlyMap<string, Holder>> {
    return (await unlessUnavailable(this.#leases.take(names))) ?? new Map<string, Holder>();
  }

  /**
   * New measurements in the store. A measurement that was known before does not count, since it is to be taken again.
   */
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
    const { fingerprint } = identifySystem(this.system, runOptions);
    return measurementId({ signature, system: fingerprint, setup: setupKey(setup) }) ?? signature;
  }
}
