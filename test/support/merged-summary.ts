import type { TestEvent } from 'node:test/reporters';

const COUNT = /^([a-z_]+) (\d+(?:\.\d+)?)$/;

/** The counts and the time that Node's test runner reports at the end of a run, summed over one run after the other. */
export class MergedSummary {
  readonly #counts = new Map<string, number>();

  /** @returns whether the event is part of a run's summary, so that the reporter gets the sums instead */
  take({ type, data }: TestEvent): boolean {
    if (type !== 'test:diagnostic' || data.file !== undefined) return false;
    const [, name, count] = COUNT.exec(data.message) ?? [];
    if (name === undefined) return false;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + Number(count));
    return true;
  }

  /** The summary of all runs. */
  events(): readonly TestEvent[] {
    return [...this.#counts].map(([name, count]) => {
      return { type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}` } };
    });
  }
}
