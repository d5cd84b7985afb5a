import { isUnderLoad } from '../measurement/disturbance.js';
import { type Measurement, setupKey } from '../measurement/measurement.js';
import { identifySystem, type System } from '../measurement/system.js';
import { type Holder, Leases } from '../store/leases/leases.js';
import { measurementId } from '../store/measurement-id.js';
import type { ResultStore } from '../store/result-store.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';
import { type KnownResults, knownResults, buildWanted } from './known-results.js';
import type { Task } from './task.js';

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

/** By leases in the store on benchmark, system, protocol, context and occasion; others wait and read the result. */
export class MeasuredOnce {
  readonly #leases: Leases;

  constructor(
    private readonly store: ResultStore,
    private readonly system: System,
    private readonly results: KnownResults,
  ) {
    this.#leases = new Leases(store, 'measurement');
  }

  /** May be called again for what others measure. @throws PlatformError as the store does, except where it is gone */
  async share(tasks: readonly Task[]): Promise<Shares> {
    const names = new Map(tasks.map((task) => [task, this.#nameOf(task)]));
    const held = (await unlessUnavailable(this.#leases.take([...names.values()]))) ?? new Map<string, Holder>();
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

  /** Lets others take what is not measured. The caller must have stored all measurements before. */
  async release(): Promise<void> {
    await unlessUnavailable(this.#leases.release());
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  /** Without those that were known before, since they are to be taken again. */
  async #foundNow(tasks: readonly Task[]): Promise<ReadonlyMap<Task, Measurement>> {
    const wanted = tasks.map(({ request }) => buildWanted(request));
    const stored = await unlessUnavailable(knownResults(wanted, this.system, this.store));
    const found = new Map<Task, Measurement>();
    for (const task of tasks) {
      const measurement = stored?.get(task.request);
      const before = this.results.measuredAt(task.request);
      if (measurement !== undefined && measurement.measuredAt !== before) found.set(task, measurement);
    }
    return found;
  }

  #nameOf({ request }: Task): string {
    const { signature, runOptions, ...setup } = buildWanted(request);
    const { fingerprint } = identifySystem(this.system, runOptions);
    return measurementId({ signature, system: fingerprint, setup: setupKey(setup) }) ?? signature;
  }
}
