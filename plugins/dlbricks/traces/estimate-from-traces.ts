import { mean, median, sumOf, trimmedMean, groupedBy } from '../../../src/plugin-api.js';
import { longestPath } from '../estimate/longest-path.js';
import type { ErrorSource, Spread } from '../estimate/statistics.js';
import { OccurrenceIndex, type Reuse } from './find-occurrences.js';
import { type FoundBy, hasTypes } from './match-level.js';
import { occurrenceSpread, type OccurrenceSpread } from './occurrence-spread.js';
import type { Occurrence, Target, TraceBook, TraceSequence } from './trace-book.js';
import { type CommonError, KernelPredictor, type Prediction, type Unknown } from '../predict/kernel-predictor.js';
import type { LayerFacts } from '../work/layer-facts.js';

/** Predicts layers that traces did not measure from those with the same operator that they did. */
export class LayerPredictor {
  private readonly kernels: KernelPredictor;
  private readonly hasTypes: boolean;

  /** @param occurrences the measurements to use; those of several layers at once are ignored */
  constructor(occurrences: readonly Occurrence[]) {
    const single = occurrences.filter(({ layers, ms }) => layers.length === 1 && ms > 0);
    this.hasTypes = single.every(({ layers }) => layers.every(hasTypes));
    const measured = [...groupedBy(single, ({ identity }) => identity).values()].flatMap((same) => {
      const [{ layers: [layer] = [], model = '' } = {}] = same;
      if (layer === undefined) return [];
      return [{ facts: this.comparable(layer), footprintBytes: 0, ms: median(same.map(({ ms }) => ms)), model }];
    });
    this.kernels = new KernelPredictor(measured);
  }

  /** What traces hold of a layer: a model's file also has its domain, and which of its inputs are weights. */
  private comparable({ operator, attributes, inputs, outputs, operations, bytes }: LayerFacts): LayerFacts {
    const tensors = (all: LayerFacts['inputs']): LayerFacts['inputs'] => {
      return this.hasTypes ? all : all?.map(({ dims }) => ({ dims }));
    };
    return { operator, attributes, inputs: tensors(inputs), outputs: tensors(outputs), operations, bytes };
  }

  predict(layer: LayerFacts): Prediction | Unknown {
    return this.kernels.predict([this.comparable(layer)], 0);
  }

  get commonError(): CommonError {
    return this.kernels.commonError;
  }
}

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
  readonly ms?: number | undefined;
  readonly foundBy?: FoundBy | undefined;
  readonly occurrences: number;
  /** Why it could not be filled in, where that was asked for. */
  readonly reason?: string | undefined;
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

interface PartLatency extends TracedPart {
  readonly uncertainty?: Spread | undefined;
}

export class TraceEstimator {
  private readonly index: OccurrenceIndex;
  private readonly spread: OccurrenceSpread;
  private readonly predictors = new Map<string, LayerPredictor>();
  private readonly latencies = new WeakMap<readonly Occurrence[], Pick<PartLatency, 'ms' | 'uncertainty'>>();

  constructor(
    readonly book: TraceBook,
    private readonly settings: EstimateSettings,
  ) {
    this.index = new OccurrenceIndex(book.occurrences);
    this.spread = occurrenceSpread(book.occurrences);
  }

  sum(target: Target, reuse: Reuse = this.settings.reuse): TracedSum {
    const parts = target.sequences.map((sequence) => this.latencyOfPart(target, sequence, reuse));
    const estimated = parts.filter(({ ms }) => ms !== undefined);
    const measured = parts.filter(({ ms, foundBy }) => ms !== undefined && foundBy !== 'fill');
    const ms = estimated.length === 0 ? undefined : sumOf(estimated.map((part) => part.ms ?? 0));
    return {
      target,
      parts,
      ms,
      parallelMs: this.longest(target, parts),
      errors: ms === undefined || ms === 0 ? undefined : this.computeErrors(estimated, ms, target, reuse),
      measuredShare: parts.length === 0 ? 0 : measured.length / parts.length,
      coverage: parts.length === 0 ? 0 : estimated.length / parts.length,
    };
  }

  private latencyOfPart(target: Target, sequence: TraceSequence, reuse: Reuse): PartLatency {
    const found = this.index.find(target, sequence, reuse);
    if (found !== undefined) {
      const { level, occurrences } = found;
      const latency = this.latencies.get(occurrences) ?? this.computeLatency(occurrences);
      this.latencies.set(occurrences, latency);
      return { sequence, foundBy: level, occurrences: occurrences.length, ...latency };
    }
    const [layer, second] = sequence.layers;
    const filled =
      this.settings.fill && layer !== undefined && second === undefined
        ? this.predictorFor(target, reuse).predict(layer)
        : undefined;
    if (filled?.kind !== 'predicted') return { sequence, occurrences: 0, reason: filled?.reason };
    const uncertainty = { relative: filled.ownError, degreesOfFreedom: Infinity };
    return { sequence, ms: filled.ms, foundBy: 'fill', occurrences: 0, uncertainty };
  }

  private computeLatency(occurrences: readonly Occurrence[]): Pick<PartLatency, 'ms' | 'uncertainty'> {
    const inOrder = [...occurrences].sort((a, b) => a.order - b.order);
    const timesMs = inOrder.map((occurrence) => occurrence.ms);
    const ms = computeStatistic(timesMs, this.settings.statistic);
    const spread = this.spread.layer(ms);
    const processes = new Set(inOrder.map(({ process }) => process)).size;
    const uncertainty = spread && {
      // The standard error of the mean, and the spread of the one process that the estimate is for.
      relative: spread.relative * Math.sqrt(1 + 1 / processes),
      degreesOfFreedom: spread.degreesOfFreedom,
    };
    return { ms, uncertainty };
  }

  private predictorFor(target: Target, reuse: Reuse): LayerPredictor {
    const key = reuse === 'all' ? '' : JSON.stringify([reuse, target.name]);
    const known = this.predictors.get(key);
    if (known !== undefined) return known;
    const usable = this.book.occurrences.filter(
      ({ model: of }) => reuse === 'all' || (of === target.name) === (reuse === 'own'),
    );
    const predictor = new LayerPredictor(usable);
    this.predictors.set(key, predictor);
    return predictor;
  }

  private longest({ edges, sequences }: Target, parts: readonly TracedPart[]): number | undefined {
    if (edges === undefined || parts.every(({ ms }) => ms === undefined)) return undefined;
    const times = parts.map(({ ms }) => ms ?? 0);
    return sumOf(longestPath({ sequences, edges }, times).map((index) => times[index] ?? 0));
  }

  /**
   * All occurrences of a layer have the same error, so these add up. Filled-in layers also have an error in common. The
   * process that the estimate is for adds the spread between processes.
   */
  private computeErrors(
    estimated: readonly PartLatency[],
    ms: number,
    target: Target,
    reuse: Reuse,
  ): readonly ErrorSource[] | undefined {
    const shares = new Map<string, { deviationMs: number; degreesOfFreedom: number }>();
    let filledMs = 0;
    for (const { sequence, ms: part = 0, foundBy, uncertainty } of estimated) {
      if (uncertainty === undefined) return undefined;
      if (foundBy === 'fill') filledMs += part;
      const share = shares.get(sequence.identity) ?? { deviationMs: 0, degreesOfFreedom: uncertainty.degreesOfFreedom };
      share.deviationMs += (uncertainty.relative * part) / ms;
      shares.set(sequence.identity, share);
    }
    const { process } = this.spread;
    const sources = [...shares.values()];
    if (filledMs > 0) {
      const { relative, degreesOfFreedom } = this.predictorFor(target, reuse).commonError;
      sources.push({ deviationMs: (relative * filledMs) / ms, degreesOfFreedom });
    }
    // The estimate is for one process of the model. Whole models may show the spread between processes.
    if (reuse === 'own') return sources;
    if (process === undefined) return undefined;
    return [...sources, { deviationMs: process.relative, degreesOfFreedom: process.degreesOfFreedom }];
  }
}
