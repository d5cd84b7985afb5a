import type { PluginEvent } from '../event.js';

type Measuring = Extract<PluginEvent, { readonly kind: 'measuring' }>;

export class JointProgress {
  readonly #latest = new Map<string, Measuring>();

  event(system: string, measuring: Measuring): PluginEvent {
    this.#latest.set(system, measuring);
    const all = [...this.#latest.values()];
    const lefts = all.flatMap(({ done, total, secondsLeft }) => (done < total ? [secondsLeft] : []));
    const known = lefts.filter((seconds) => seconds !== undefined);
    return {
      kind: 'measuring',
      done: all.reduce((sum, { done }) => sum + done, 0),
      total: all.reduce((sum, { total }) => sum + total, 0),
      label: `${system}: ${measuring.label}`,
      // The evaluation ends when the last system ends.
      ...(known.length > 0 && known.length === lefts.length ? { secondsLeft: Math.max(...known) } : {}),
    };
  }
}
