import {
  groupedBy,
  type MeasuredLayer,
  PlatformError,
  type TracedModel,
  factorOfSums,
  trimmedMean,
  nameOf,
} from '../../../src/plugin-api.js';
import type { Edge } from '../cut/layer-cut.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { layersKey } from './match-level.js';
import { createHash } from 'node:crypto';

export interface TraceSequence {
  /** Its place in its model: `7`, `0-1-2`, or `7..9` for several layers. */
  readonly position: string;
  readonly name: string;
  readonly layers: readonly LayerFacts[];
  /** Equal for sequences that the trace treats as the same; see {@link layersKey}. */
  readonly identity: string;
  /** The traced model whose sequence it is, where that has another name than the model to estimate. */
  readonly of?: string | undefined;
}

export interface Occurrence extends TraceSequence {
  readonly model: string;
  /** One run of a program that traced a model. Its occurrences share its deviation from other processes. */
  readonly process: string;
  readonly ms: number;
  /** Place in the order in which everything was read. */
  readonly order: number;
}

/** The trace itself, the model's file, or the graph that the runtime makes of it, with its dimensions bound or open. */
export const TARGET_GRAPHS = ['trace', 'source', 'optimized', 'optimized_open'] as const;

export type TargetGraph = (typeof TARGET_GRAPHS)[number];

export type FileGraph = Exclude<TargetGraph, 'trace'>;

export interface Target {
  readonly name: string;
  readonly graph: TargetGraph;
  readonly layers: number;
  readonly sequences: readonly TraceSequence[];
  readonly edges: readonly Edge[] | undefined;
  readonly wholeMs: number | undefined;
}

export interface TraceBook {
  readonly occurrences: readonly Occurrence[];
  readonly targets: readonly Target[];
  /** Why a model cannot be estimated itself, by its name. Other models still use its measurements. */
  readonly refused: ReadonlyMap<string, string>;
  readonly corrections: readonly Correction[];
  readonly repeated: readonly RepeatedTrace[];
}

/** Limit on the layers of all sequences together: one row of a table may stand for a hundred thousand of them. */
const MAX_TIMED_LAYERS = 2_000_000;

/** Counts layers before they are held in memory. @throws PlatformError `usage` where there are too many */
type Account = (model: TracedModel, layers: number) => void;

function createAccount(): Account {
  let total = 0;
  return ({ source }, layers) => {
    total += layers;
    if (total <= MAX_TIMED_LAYERS) return;
    const problem = `sequences of more than ${MAX_TIMED_LAYERS} layers together`;
    throw new PlatformError('usage', `${source}: ${problem}; split the file, or correct where its sequences end`);
  };
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly sequence: TraceSequence;
  readonly samplesMs: readonly number[];
}

function formatPosition({ index, last }: MeasuredLayer): string {
  return last === undefined || String(last) === index ? index : `${index}..${last}`;
}

/** Ranges that overlap are a problem: a layer ran in several shapes, or the sequences are of several cuts. */
function listRanges(
  model: TracedModel,
  granularity: number,
  account: Account,
): { readonly ranges: readonly Range[]; readonly problem: string | undefined } {
  // An index may be a path, so the layer's place in the list counts.
  const ranks = new Map([...new Set(model.layers.map(({ index }) => index))].map((index, rank) => [index, rank]));
  const described = new Map<number, MeasuredLayer>();
  const measured: { readonly layer: MeasuredLayer; readonly first: number; readonly last: number }[] = [];
  for (const layer of model.layers) {
    const first = ranks.get(layer.index) ?? 0;
    if (layer.operator !== '' && !described.has(first)) described.set(first, layer);
    if (layer.samplesMs.length === 0 || (layer.granularity ?? 1) !== granularity) continue;
    const last =
      layer.last === undefined ? first : (ranks.get(String(layer.last)) ?? first + layer.last - Number(layer.index));
    measured.push({ layer, first, last });
  }
  const ranges: Range[] = [];
  let problem: string | undefined;
  const add = (first: number, last: number, layer: MeasuredLayer, samplesMs: readonly number[]): void => {
    account(model, last - first + 1);
    const layers = Array.from(
      { length: last - first + 1 },
      (_, i): LayerFacts => described.get(first + i) ?? { operator: '' },
    );
    const facts = first === last && layer.operator !== '' ? [layer] : layers;
    const sequence = {
      position: formatPosition(layer),
      name: layer.name || (facts[0] as Partial<MeasuredLayer>).name || '',
      layers: facts,
      identity: layersKey(facts, JSON.stringify([nameOf(model), formatPosition(layer)])),
    };
    ranges.push({ first, last, sequence, samplesMs });
  };
  let next = 0;
  const describeUntil = (end: number): void => {
    for (; next < end; next++) {
      const layer = described.get(next);
      if (layer !== undefined) add(next, next, layer, []);
    }
  };
  for (const { layer, first, last } of measured.sort((a, b) => a.first - b.first || a.last - b.last)) {
    if (first < next) {
      problem ??= `${model.source}: ${nameOf(model)}: layer ${formatPosition(layer)} was measured more than once in different ways, so that the model's sequences are ambiguous; split the trace, or choose the cut with -G`;
      add(first, last, layer, layer.samplesMs);
      continue;
    }
    describeUntil(first);
    add(first, last, layer, layer.samplesMs);
    next = last + 1;
  }
  describeUntil(ranks.size);
  return { ranges, problem };
}

/** Edges between sequences; known only where every layer but the first names its predecessors. */
function listEdges(model: TracedModel, ranges: readonly Range[]): readonly Edge[] | undefined {
  const after = new Map(
    model.layers.flatMap((layer) => (layer.after === undefined ? [] : [[Number(layer.index), layer.after]])),
  );
  if (after.size === 0) return undefined;
  const rangeOf = new Map<number, number>();
  for (const [i, { sequence, first, last }] of ranges.entries()) {
    const index = Number(sequence.position.split('..', 1)[0]);
    for (let offset = 0; offset <= last - first; offset++) rangeOf.set(index + offset, i);
  }
  const edges = new Map<string, Edge>();
  for (const [layer, sources] of after) {
    for (const source of sources) {
      const from = rangeOf.get(source);
      const to = rangeOf.get(layer);
      if (from !== undefined && to !== undefined && from < to) edges.set(`${from} ${to}`, [from, to]);
    }
  }
  return [...edges.values()];
}

/** The granularity to use: the requested one, else the only one that was measured, else single layers. */
function findGranularity(models: readonly TracedModel[], asked: number | undefined): number {
  if (asked !== undefined) return asked;
  const found = new Set(
    models.flatMap(({ layers }) =>
      layers.filter(({ samplesMs }) => samplesMs.length > 0).map(({ granularity }) => granularity ?? 1),
    ),
  );
  const [only = 1] = found;
  return found.size === 1 ? only : 1;
}

/**
 * @param given all of one system
 * @param asked the longest sequence that the models were cut into when they were measured
 * @throws PlatformError `usage` where the traces claim more layers than fit into memory
 */
export function openTraceBook(given: readonly TracedModel[], asked: number | undefined): TraceBook {
  const { models, repeated } = withoutRepeated(given);
  const granularity = findGranularity(models, asked);
  const account = createAccount();
  const inProcesses = models.map((model, i) => ({ model, process: `${i} ${model.source}` }));
  const occurrences: Occurrence[] = [];
  const targets: Target[] = [];
  const corrections: Correction[] = [];
  const refused = new Map<string, string>();
  for (const [name, traced] of groupedBy(inProcesses, ({ model }) => nameOf(model))) {
    const wholeMs = traced.flatMap(({ model }) => model.wholeMs);
    let target: Target | undefined;
    let most = 0;
    for (const { model, process } of traced) {
      const correction = computeCorrection(name, model, wholeMs);
      if (correction !== undefined) corrections.push(correction);
      const { ranges, problem } = listRanges(model, granularity, account);
      const disturbed = factorOfRuns(ranges);
      for (const { sequence, samplesMs } of ranges) {
        if (samplesMs.length === 0) continue;
        const ms = trimmedMean(samplesMs) * disturbed * (correction?.factor ?? 1);
        occurrences.push({ ...sequence, model: name, process, ms, order: occurrences.length });
      }
      if (problem !== undefined) {
        refused.set(name, problem);
        continue;
      }
      const countLayers = (some: readonly Range[]): number =>
        some.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      // Several traces may describe the model; the one that measured the most layers of it is used.
      const measured = countLayers(ranges.filter((range) => range.samplesMs.length > 0));
      if (target !== undefined && measured <= most) continue;
      most = measured;
      target = {
        name,
        graph: 'trace',
        layers: countLayers(ranges),
        sequences: ranges.map(({ sequence }) => sequence),
        edges: listEdges(model, ranges),
        wholeMs: wholeMs.length === 0 ? undefined : trimmedMean(wholeMs),
      };
    }
    if (target === undefined) continue;
    refused.delete(name);
    if (target.sequences.length > 0) targets.push(target);
  }
  return { occurrences, targets, refused, corrections, repeated };
}

/** Where a trace has all runs of all of its layers, by {@link factorOfSums}; else 1. */
function factorOfRuns(ranges: readonly Range[]): number {
  const measured = ranges.map(({ samplesMs }) => samplesMs).filter(({ length }) => length > 0);
  const isAligned = measured.every(({ length }) => length === measured[0]?.length);
  return isAligned ? factorOfSums(measured) : 1;
}

type Correction = NonNullable<ReturnType<typeof computeCorrection>>;

/**
 * It is not known whether the cost of tracing is in the layers or between them, so both are reduced in proportion.
 *
 * @param wholeMs executions of the whole model without layer tracing, from any trace of the same system
 * @returns undefined where one of the two is not known, or tracing cost nothing
 */
function computeCorrection(model: string, traced: TracedModel, wholeMs: readonly number[]) {
  if (wholeMs.length === 0 || traced.tracedWholeMs.length === 0) return undefined;
  const plain = trimmedMean(wholeMs);
  const slower = trimmedMean(traced.tracedWholeMs);
  if (plain >= slower) return undefined;
  return { model, source: traced.source, factor: plain / slower, wholeMs: plain, tracedWholeMs: slower };
}

type RepeatedTrace = Record<'model' | 'source', string>;

/** Hash of a trace's measurements, for traces without ids. */
function hashContent(model: TracedModel): string {
  const hash = createHash('sha256').update(JSON.stringify([nameOf(model), model.wholeMs, model.tracedWholeMs]));
  for (const { index, last, granularity, operator, runs, samplesMs } of model.layers) {
    hash.update(JSON.stringify([index, last, granularity, operator, runs, samplesMs]));
  }
  return hash.digest('hex');
}

/**
 * Leaves out models whose traces are all in other models as well, by their ids, or by their content where they have no
 * ids. A model with more traces takes precedence. @param models all of one system
 */
export function withoutRepeated(models: readonly TracedModel[]) {
  const seen = new Set<string>();
  const left = new Set<TracedModel>();
  for (const model of models.toSorted((a, b) => b.traceIds.length - a.traceIds.length)) {
    const name = nameOf(model);
    const ids = model.traceIds.map((id) => JSON.stringify([name, id]));
    const content = hashContent(model);
    if (seen.has(content) || (ids.length > 0 && ids.every((id) => seen.has(id)))) left.add(model);
    for (const key of [...ids, content]) seen.add(key);
  }
  const repeated = models.filter((model) => left.has(model));
  return {
    models: models.filter((model) => !left.has(model)),
    repeated: repeated.map((model): RepeatedTrace => ({ model: nameOf(model), source: model.source })),
  };
}
