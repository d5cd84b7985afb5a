import { maxOf } from '../../base/long-lists.js';
import type { PluginEvent } from '../event.js';

type Measuring = Extract<PluginEvent, { readonly kind: 'measuring' }>;

export class JointProgress {
  /** By the system and the step. */
  readonly #counts = new Map<string, Measuring>();
  readonly #latest = new Map<string, Measuring>();
  /** Of counts that have made room for others of the same step. */
  #before = 0;

  event(system: string, measuring: Measuring): PluginEvent {
    const key = JSON.stringify([system, measuring.step]);
    const counted = this.#counts.get(key);
    if (counted !== undefined && measuring.done < counted.done) this.#before += counted.done;
    this.#counts.set(key, measuring);
    this.#latest.set(system, measuring);
    const all = [...this.#counts.values()];
    const lefts = [...this.#latest.values()].flatMap(({ done, total, secondsLeft }) => {
      return done < total ? [secondsLeft] : [];
    });
    const known = lefts.filter((seconds) => seconds !== undefined);
    return {
      kind: 'measuring',
      done: all.reduce((sum, { done }) => sum + done, this.#before),
      total: all.reduce((sum, { total }) => sum + total, this.#before),
      label: `${system}: ${measuring.label}`,
      // The evaluation ends when the last system ends.
      ...(known.length > 0 && known.length === lefts.length ? { secondsLeft: maxOf(known) } : {}),
    };
  }
}
