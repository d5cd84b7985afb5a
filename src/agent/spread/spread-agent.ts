import { messageOf, PlatformError } from '../../base/errors.js';
import { inPercent } from '../../base/in-percent.js';
import { merged } from '../../base/merged.js';
import type {
  BenchmarkAgent,
  MachineSpread,
  MeasuredRequest,
  MeasureOptions,
  MeasureRequest,
} from '../benchmark-agent.js';
import { divideWork } from '../client/divide-work.js';
import { measureNumbered } from '../client/measure-numbered.js';
import type { Numbered } from '../client/requests-together.js';
import { type Compared, comparedMs, compareMachines, MIN_DIFFERENCE, requestsToCompare } from './compare-machines.js';
import { isOfMachine, type Machine, Machines } from './machines.js';

/** Work during which this many agents ended is not given to another agent. */
const MAX_LOSSES = 3;

interface Work {
  readonly requests: readonly Numbered[];
  readonly losses: number;
}

export interface SpreadOptions {
  readonly tell: (level: 'info' | 'warning', message: string) => void;
}

function nameSame(measurements: number): string {
  return measurements === 1 ? 'the same measurement' : `the same ${measurements} measurements`;
}

class Pool {
  readonly #waiting: Work[];
  #taken = 0;
  #wake = (): void => {};
  #changed = this.#nextChange();

  constructor(items: readonly (readonly Numbered[])[]) {
    this.#waiting = items.map((requests) => ({ requests, losses: 0 }));
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Waits while others may give work back. @returns undefined when everything is done */
  async take(): Promise<Work | undefined> {
    for (;;) {
      const work = this.#waiting.shift();
      if (work !== undefined) {
        this.#taken++;
        return work;
      }
      if (this.#taken === 0) return undefined;
      await this.#changed;
    }
  }

  /** Ends work that was taken. @param left the part of it that is not done */
  end(left?: Work): void {
    this.#taken--;
    if (left !== undefined && left.requests.length > 0) this.#waiting.unshift(left);
    this.#wake();
    this.#changed = this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

/**
 * Identical machines share the work; others do what is left of one that ends. Some requests are first measured on all:
 * a machine that differs too much is left out. These are no results: bricks in a small composite are warmer.
 */
export function spreadAgent(all: readonly [Machine, ...Machine[]], { tell }: SpreadOptions): BenchmarkAgent {
  const machines = new Machines(all, (message) => tell('warning', message));
  let isCompared = false;
  let spread: MachineSpread | undefined;

  /** Times of the requests on a machine, in their order; empty where the machine failed. */
  async function measuredOn(
    machine: Machine,
    requests: readonly MeasureRequest[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Compared<Machine>[]> {
    const ms = new Array<number | undefined>(requests.length).fill(undefined);
    try {
      for await (const { index, measurement } of machine.agent.measure(requests, { signal })) {
        ms[index] = comparedMs(measurement);
      }
      return [{ machine, ms }];
    } catch (error) {
      if (!isOfMachine(error)) throw error;
      machines.leaveOut(machine, messageOf(error));
      return [];
    }
  }

  async function compare(requests: readonly MeasureRequest[], signal: AbortSignal | undefined): Promise<void> {
    isCompared = true;
    const chosen = requestsToCompare(requests);
    const asked = machines.working.map((machine) => measuredOn(machine, chosen, signal));
    const compared = (await Promise.all(asked)).flat();
    const comparison = compareMachines(compared);
    const measured = nameSame(comparison.requests);
    for (const { machine, difference } of comparison.outliers) {
      const slower = difference > 0 ? 'longer' : 'less';
      const takes = `it takes ${inPercent(Math.abs(difference))} ${slower} than the median of ${compared.length} machines`;
      machines.leaveOut(machine, `${takes} for ${measured}`);
    }
    spread = comparison.spread;
    if (spread === undefined) return;
    const differ = `${spread.machines} machines differ by ${inPercent(spread.relative)} (standard deviation)`;
    tell(spread.relative > MIN_DIFFERENCE ? 'warning' : 'info', `${differ} in the time of ${measured}`);
  }

  async function* takeWork(machine: Machine, pool: Pool, options: MeasureOptions): AsyncGenerator<MeasuredRequest> {
    for (;;) {
      const work = await pool.take();
      if (work === undefined) return;
      const { requests, losses } = work;
      const left = new Map(requests.map((numbered) => [numbered.index, numbered]));
      let given: Work | undefined;
      try {
        for await (const measured of measureNumbered(machine.agent, requests, options)) {
          if (left.delete(measured.index)) yield measured;
        }
      } catch (error) {
        if (options.signal?.aborted === true || !isOfMachine(error)) throw error;
        machines.leaveOut(machine, messageOf(error));
        given = { requests: [...left.values()], losses: losses + 1 };
        if (given.losses >= MAX_LOSSES) throw tooManyLosses(requests.length, messageOf(error));
        return;
      } finally {
        pool.end(given);
      }
    }
  }

  async function* measure(
    requests: readonly MeasureRequest[],
    { signal, onProgress }: MeasureOptions = {},
  ): AsyncGenerator<MeasuredRequest> {
    if (requests.length === 0) return;
    if (!isCompared && requests.length > 1 && machines.working.length > 1) await compare(requests, signal);
    const { cacheBytes } = all[0].agent.description;
    const pool = new Pool(divideWork(requests, { agents: machines.working.length, cacheBytes }));
    const stop = new AbortController();
    const options = { signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]), onProgress };
    const workers = machines.working.map((machine) => takeWork(machine, pool, options));
    yield* merged(workers, () =>
      stop.abort(new PlatformError('cancelled', 'the caller no longer waits for the measurements')),
    );
    if (!pool.isEmpty) throw machines.none();
  }

  return {
    // Machines that are left out did no work.
    get description() {
      const hosts = machines.working.map(({ agent }) => agent.description.host);
      return { ...all[0].agent.description, host: [...new Set(hosts)].join(', ') };
    },
    measure,
    trace: (request, level, options) => machines.ask((agent) => agent.trace(request, level, options)),
    inferTypes: (...request) => machines.ask((agent) => agent.inferTypes(...request)),
    optimize: (...request) => machines.ask((agent) => agent.optimize(...request)),
    runOnce: (...request) => machines.ask((agent) => agent.runOnce(...request)),
    machineSpread: () => spread,
    reaches: (...needed) => machines.working.flatMap(({ agent }) => agent.reaches?.(...needed) ?? []),
    close: async () => {
      await Promise.all(all.map(({ agent }) => agent.close()));
    },
  };
}

function tooManyLosses(requests: number, why: string): PlatformError {
  const problem = `${MAX_LOSSES} agents ended while they took ${nameSame(requests)}, the last one with: ${why}`;
  return new PlatformError('unavailable', `${problem}; look at their messages before you submit again`);
}
