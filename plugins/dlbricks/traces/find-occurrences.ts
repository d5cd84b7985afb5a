import { groupedBy } from '../../../src/plugin-api.js';
import { keysToFind, type Known, findKnown, MATCH_LEVELS, matchKey, type MatchLevel } from './match-level.js';
import type { Occurrence, Target, TraceSequence } from './trace-book.js';

/** The measurements that an estimate may use: the model's own, the other models', or all. */
export const REUSES = ['all', 'own', 'others'] as const;

export type Reuse = (typeof REUSES)[number];

export class OccurrenceIndex {
  private readonly byKey = new Map<string, Occurrence[]>();
  /** The facts that the occurrences hold, by level. */
  private readonly known = new Map<MatchLevel, Set<Known>>(MATCH_LEVELS.map((level) => [level, new Set()]));
  private readonly byPosition: ReadonlyMap<string, readonly Occurrence[]>;
  /** Cached results of one target by key: a target may have the same layer thousands of times. */
  private readonly found = new Map<string, readonly Occurrence[]>();
  private foundWithout: string | undefined;

  constructor(readonly occurrences: readonly Occurrence[]) {
    this.byPosition = groupedBy(occurrences, ({ model, position }) => JSON.stringify([model, position]));
    for (const occurrence of occurrences) {
      for (const level of MATCH_LEVELS) {
        const known = findKnown(occurrence.layers, level);
        const key = matchKey(occurrence.layers, level, known);
        if (key === undefined) continue;
        this.known.get(level)?.add(known);
        const list = this.byKey.get(`${level} ${known} ${key}`) ?? [];
        this.byKey.set(`${level} ${known} ${key}`, list);
        list.push(occurrence);
      }
    }
  }

  find(target: Target, sequence: TraceSequence, reuse: Reuse) {
    if (reuse === 'own') return this.atPosition(target, sequence);
    const without = reuse === 'all' ? undefined : target.name;
    for (const level of MATCH_LEVELS) {
      const occurrences = this.at(this.keysOf(sequence, level), without);
      if (occurrences.length > 0) return { level, occurrences };
    }
    // Of a layer without shapes, or of a call, only the place in its model is known.
    return reuse === 'all' ? this.atPosition(target, sequence) : undefined;
  }

  private atPosition({ name }: Target, { of = name, position, identity }: TraceSequence) {
    const there = this.byPosition.get(JSON.stringify([of, position])) ?? [];
    const occurrences = there.filter((occurrence) => occurrence.identity === identity);
    return occurrences.length === 0 ? undefined : { level: 'position' as const, occurrences };
  }

  private keysOf({ layers }: TraceSequence, level: MatchLevel): readonly string[] {
    return [...(this.known.get(level) ?? [])].flatMap((known) => {
      return keysToFind(layers, level, known).map((key) => `${level} ${known} ${key}`);
    });
  }

  private at(keys: readonly string[], without: string | undefined): readonly Occurrence[] {
    if (without !== this.foundWithout) this.found.clear();
    this.foundWithout = without;
    const question = JSON.stringify(keys);
    const known = this.found.get(question);
    if (known !== undefined) return known;
    const found = new Set(keys.flatMap((key) => this.byKey.get(key) ?? []));
    const usable = without === undefined ? [...found] : [...found].filter(({ model }) => model !== without);
    this.found.set(question, usable);
    return usable;
  }
}
