import { trimmedMean } from '../../../src/plugin-api.js';
import { longestPath } from '../estimate/longest-path.js';
import { type ErrorSource, mean, median } from '../estimate/statistics.js';
import { FillModel } from './fill.js';
import { OccurrenceIndex, type Reuse } from './find-occurrences.js';
import type { LayerFacts } from '../work/layer-facts.js';
import type { FoundBy } from './match-level.js';
import { occurrenceSpread, type OccurrenceSpread } from './occurrence-spread.js';
import type { Occurrence, Target, TraceBook, TraceSequence } from './trace-book.js';

/** How several measurements of one layer become one latency. */
export const STATISTICS = ['median', 'mean', 'trimmed-mean', 'min', 'max', 'last'] as const;

export type Statistic = (typeof STATISTICS)[number];

export interface EstimateSettings {
  readonly reuse: Reuse;
  readonly statistic: Statistic;
  /** Whether unmeasured layers are estimated from measured layers with the same operator. */
  readonly fill: boolean;
  /** Whether estimates are multiplied by the ratio of measured to estimated latency of the other models. */
  readonly calibrate: boolean;
}

export interface TracedPart {
  readonly sequence: TraceSequence;
  readonly ms: number | undefined;
  readonly foundBy: FoundBy | undefined;
  readonly occurrences: number;
}

/** An estimate before its correction by whole models. */
export interface TracedSum {
  readonly target: Target;
  readonly parts: readonly TracedPart[];
  /** Over all parts that have a latency; undefined where none has. */
  readonly ms: number | undefined;
  readonly parallelMs: number | undefined;
  /** Errors of the logarithm of `ms`; undefined where the traces do not show the spread between processes. */
  readonly errors: readonly ErrorSource[] | undefined;
  readonly measuredShare: number;
  readonly coverage: number;
}

/** @param values at least one, in the order in which they were read */
export function computeStatistic(values: readonly number[], statistic: Statistic): number {
  switch (statistic) {
    case 'median':
      return median(values);
    case 'mean':
      return mean(values);
    case 'trimmed-mean':
      return trimmedMean(values);
    case 'min':
      return values.reduce((least, value) => Math.min(least, value));
    case 'max':
      return values.reduce((most, value) => Math.max(most, value));
    case 'last':
      return values.at(-1) ?? 0;
  }
}

function processesOf(occurrences: readonly Occurrence[]): number {
  return new Set(occurrences.map(({ process }) => process)).size;
}

interface TracedUncertainty {
  readonly relative: number;
  readonly degreesOfFreedom: number;
}

interface PartLatency extends TracedPart {
  readonly uncertainty: TracedUncertainty | undefined;
}

export class TraceEstimator {
  private readonly index: OccurrenceIndex;
  private readonly spread: OccurrenceSpread;
  private readonly fills = new Map<string, FillModel>();
  /** Cached latencies by occurrences. */
  private readonly latencies = new WeakMap<readonly Occurrence[], Pick<PartLatency, 'ms' | 'uncertainty'>>();

  constructor(
    readonly book: TraceBook,
    private readonly settings: EstimateSettings,
  ) {
    this.index = new OccurrenceIndex(book.occurrences);
    this.spread = occurrenceSpread(book.occurrences);
  }

  /** @param reuse whose measurements may be used; default: as in the settings */
  sum(target: Target, reuse: Reuse = this.settings.reuse): TracedSum {
    const parts = target.sequences.map((sequence) => this.latencyOfPart(target, sequence, reuse));
    const estimated = parts.filter(({ ms }) => ms !== undefined);
    const measured = parts.filter(({ ms, foundBy }) => ms !== undefined && foundBy !== 'fill');
    const ms = estimated.length === 0 ? undefined : estimated.reduce((sum, part) => sum + (part.ms ?? 0), 0);
    return {
      target,
      parts,
      ms,
      parallelMs: this.longest(target, parts),
      errors: ms === undefined || ms === 0 ? undefined : this.errorsOf(estimated, ms, reuse),
      measuredShare: parts.length === 0 ? 0 : measured.length / parts.length,
      coverage: parts.length === 0 ? 0 : estimated.length / parts.length,
    };
  }

  private latencyOfPart(target: Target, sequence: TraceSequence, reuse: Reuse): PartLatency {
    const found = this.index.find(target, sequence, reuse);
    if (found !== undefined) {
      const { level, occurrences } = found;
      const latency = this.latencies.get(occurrences) ?? this.latencyOf(occurrences);
      this.latencies.set(occurrences, latency);
      return { sequence, foundBy: level, occurrences: occurrences.length, ...latency };
    }
    const [layer, second] = sequence.layers;
    const filled =
      this.settings.fill && layer !== undefined && second === undefined ? this.fill(layer, target, reuse) : undefined;
    if (filled === undefined)
      return { sequence, ms: undefined, foundBy: undefined, occurrences: 0, uncertainty: undefined };
    const { ms, spread, degreesOfFreedom } = filled;
    return { sequence, ms, foundBy: 'fill', occurrences: 0, uncertainty: { relative: spread, degreesOfFreedom } };
  }

  private latencyOf(occurrences: readonly Occurrence[]): Pick<PartLatency, 'ms' | 'uncertainty'> {
    const inOrder = [...occurrences].sort((a, b) => a.order - b.order);
    const ms = computeStatistic(
      inOrder.map((occurrence) => occurrence.ms),
      this.settings.statistic,
    );
    const spread = this.spread.layer(ms);
    const uncertainty = spread && {
      // The standard error of the mean, and the spread of the one process that the estimate is for.
      relative: spread.relative * Math.sqrt(1 + 1 / processesOf(inOrder)),
      degreesOfFreedom: spread.degreesOfFreedom,
    };
    return { ms, uncertainty };
  }

  private fill(layer: LayerFacts, target: Target, reuse: Reuse): ReturnType<FillModel['timeOf']> {
    const key = reuse === 'all' ? '' : JSON.stringify([reuse, target.name]);
    let model = this.fills.get(key);
    if (model === undefined) {
      const usable = this.book.occurrences.filter(
        ({ model: of }) => reuse === 'all' || (of === target.name) === (reuse === 'own'),
      );
      model = new FillModel(usable);
      this.fills.set(key, model);
    }
    return model.timeOf(layer);
  }

  private longest({ edges, sequences }: Target, parts: readonly TracedPart[]): number | undefined {
    if (edges === undefined || parts.every(({ ms }) => ms === undefined)) return undefined;
    const path = longestPath(
      { sequences: sequences.map((_sequence, i) => i), edges: edges.map(([from, to]): [number, number] => [from, to]) },
      parts.map(({ ms }) => ms ?? 0),
    );
    return path.reduce((sum, i) => sum + (parts[i]?.ms ?? 0), 0);
  }

  /**
   * The uncertainty of a sum. Each different layer adds its own error as often as it occurs, since all occurrences have
   * the same error. The errors of filled-in layers of one operator add up, since they come from one fit. The process
   * that the estimate is for adds the spread between processes.
   */
  private errorsOf(estimated: readonly PartLatency[], ms: number, reuse: Reuse): readonly ErrorSource[] | undefined {
    const shares = new Map<string, { deviation: number; degreesOfFreedom: number }>();
    for (const { sequence, ms: part = 0, foundBy, uncertainty } of estimated) {
      if (uncertainty === undefined) return undefined;
      const key = foundBy === 'fill' ? `fill ${sequence.layers[0]?.operator ?? ''}` : sequence.identity;
      const share = shares.get(key) ?? { deviation: 0, degreesOfFreedom: uncertainty.degreesOfFreedom };
      share.deviation += (uncertainty.relative * part) / ms;
      shares.set(key, share);
    }
    const { process } = this.spread;
    const sources = [...shares.values()].map(({ deviation, degreesOfFreedom }) => ({
      deviationMs: deviation,
      degreesOfFreedom,
    }));
    // The estimate is for one process of the model. Whole models may show the spread between processes.
    if (reuse === 'own') return sources;
    if (process === undefined) return undefined;
    return [...sources, { deviationMs: process.relative, degreesOfFreedom: process.degreesOfFreedom }];
  }
}
