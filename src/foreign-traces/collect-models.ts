import { FactsOverRuns, type KernelFacts } from '../measurement/kernel-facts.js';
import { isPlausibleMs, PLAUSIBLE_MS } from '../base/plausible-duration.js';
import { Distinct } from './distinct.js';
import { Samples } from './samples.js';
import { quoted } from '../base/quoted.js';
import { END, traceError } from './trace-error.js';
import type { TracedLayer, TraceRecord } from './trace-record.js';

/** Most models of one file; a model counts once for each system. */
const MAX_MODELS = 10_000;

/** Most traces of one file whose model or system is not known yet. */
const MAX_OPEN_TRACES = 200_000;

/** Most trace ids that are kept for one model. A model with more has none. */
const MAX_TRACE_IDS = 1000;

export interface MeasuredLayer extends TracedLayer, KernelFacts {
  /** Empty where the trace only describes the layer. Of very many samples, an evenly spaced subset. */
  readonly samplesMs: readonly number[];
  readonly runs: number;
  /** Its place in a run, where the trace has another order than the indices. */
  readonly order?: number | undefined;
  /** The layers of the author that it computes, with their parts of it; absent in imported traces. */
  readonly sources?: readonly SourceLayer[] | undefined;
}

export interface SourceLayer {
  /** In the author's graph. */
  readonly index: number;
  readonly name: string;
  readonly operator: string;
  /** 0 to 1. */
  readonly share: number;
}

export interface TracedModel {
  readonly model: string | undefined;
  readonly system: string | undefined;
  readonly source: string;
  /** Empty where a part of the data has no id, or where there are too many ids. */
  readonly traceIds: readonly string[];
  readonly layers: readonly MeasuredLayer[];
  /** Durations of the whole model, measured without tracing its layers. */
  readonly wholeMs: readonly number[];
  /** Durations of the whole model, measured while its layers are traced. */
  readonly tracedWholeMs: readonly number[];
}

class ModelRecords {
  readonly layers = new Map<number, Samples>();
  readonly facts = new Map<number, FactsOverRuns>();
  readonly whole = new Samples();
  readonly tracedWhole = new Samples();
  private readonly ids = new Set<string>();
  private hasAllIds = true;

  constructor(
    readonly model: string | undefined,
    readonly system: string | undefined,
  ) {}

  addTrace(id: string | undefined): void {
    if (id !== undefined && this.ids.size < MAX_TRACE_IDS) this.ids.add(id);
    if (id === undefined || !this.ids.has(id)) this.hasAllIds = false;
  }

  get traceIds(): readonly string[] {
    return this.hasAllIds ? [...this.ids] : [];
  }
}

interface Pending {
  readonly traceId: string | undefined;
  readonly process: string | undefined;
  /** Ids of layers, or WHOLE or TRACED_WHOLE. */
  readonly what: number[];
  readonly durationsMs: number[];
  readonly facts: (KernelFacts | undefined)[];
}

const WHOLE = -1;
const TRACED_WHOLE = -2;
const DESCRIBED = NaN;

/** Groups a file's records by model and system, and keeps only one number for each duration. */
export class ModelCollector {
  private readonly layers = new Distinct<TracedLayer>();
  private readonly places: string[] = [];
  private readonly modelByTrace = new Map<string, string | undefined>();
  private readonly systemByProcess = new Map<string | undefined, string>();
  private readonly pending = new Map<string, Map<string | undefined, Pending>>();
  /** Processes whose system is not known yet, each with the traces that wait for it. */
  private readonly waitingFor = new Map<string, Set<string>>();
  /** How many such processes a trace waits for. */
  private readonly missing = new Map<string, number>();
  private readonly records = new Map<string, ModelRecords>();
  private isInOrder = false;

  /** @param model the model of the whole file; overrides the names in it */
  constructor(
    private readonly source: string,
    private readonly model: string | undefined,
  ) {}

  add(record: TraceRecord, place: string): void {
    switch (record.kind) {
      case 'model':
        this.modelByTrace.set(record.trace, record.model);
        if (!this.missing.has(record.trace)) this.settle(record.trace);
        return;
      case 'system':
        this.systemByProcess.set(record.process, record.system);
        if (record.process !== undefined) this.waitNoMore(record.process);
        return;
      case 'end':
        this.forget(record.trace);
        return;
      case 'layer':
        this.isInOrder ||= record.inOrder ?? false;
        this.note(record, this.idOf(record.layer, place), place, record.facts);
        return;
      case 'whole':
        this.note(record, record.layersTraced ? TRACED_WHOLE : WHOLE, place);
    }
  }

  private idOf(layer: TracedLayer, place: string): number {
    const id = this.layers.idOf(layer, (most) => {
      return traceError(this.source, place, `more than ${most} different layers; split the file`);
    });
    this.places[id] ??= place;
    return id;
  }

  private note(
    { trace, traceId, process, durationsMs }: Extract<TraceRecord, { kind: 'layer' | 'whole' }>,
    what: number,
    place: string,
    facts?: KernelFacts,
  ): void {
    const implausible = durationsMs.find((ms) => !isPlausibleMs(ms));
    if (implausible !== undefined) {
      throw traceError(this.source, place, `a duration of ${implausible} ms; expected ${PLAUSIBLE_MS}`);
    }
    const model = this.model ?? this.modelByTrace.get(trace);
    const system = this.systemByProcess.get(process);
    const values = durationsMs.length === 0 ? [DESCRIBED] : durationsMs;
    const knowsModel = model !== undefined || this.modelByTrace.has(trace);
    if (knowsModel && (process === undefined || system !== undefined)) {
      const records = this.recordsFor(model, system, place);
      records.addTrace(traceId);
      for (const value of values) this.put(records, what, value, facts);
      return;
    }
    if (process !== undefined && system === undefined) this.waitFor(process, trace);
    const pending = this.pendingFor({ trace, traceId, process }, place);
    for (const value of values) {
      pending.what.push(what);
      pending.durationsMs.push(value);
      pending.facts.push(facts);
    }
  }

  private pendingFor(
    { trace, traceId, process }: Pick<Extract<TraceRecord, { kind: 'layer' }>, 'trace' | 'traceId' | 'process'>,
    place: string,
  ): Pending {
    let ofTrace = this.pending.get(trace);
    if (ofTrace === undefined) {
      if (this.pending.size >= MAX_OPEN_TRACES) {
        const problem = `more than ${MAX_OPEN_TRACES} traces that don't name their model; name it with --model`;
        throw traceError(this.source, place, problem);
      }
      ofTrace = new Map();
      this.pending.set(trace, ofTrace);
    }
    const pending: Pending = ofTrace.get(process) ?? { traceId, process, what: [], durationsMs: [], facts: [] };
    ofTrace.set(process, pending);
    return pending;
  }

  private settle(trace: string): void {
    for (const { traceId, process, what, durationsMs, facts } of this.pending.get(trace)?.values() ?? []) {
      const records = this.recordsFor(
        this.model ?? this.modelByTrace.get(trace),
        this.systemByProcess.get(process),
        END,
      );
      records.addTrace(traceId);
      if (process !== undefined) this.waitNoMore(process, trace);
      for (const [i, id] of what.entries()) this.put(records, id, durationsMs[i] ?? DESCRIBED, facts[i]);
    }
    this.pending.delete(trace);
  }

  /** Frees a complete trace's memory. In formats that emit the end of a trace, a process belongs to one trace. */
  private forget(trace: string): void {
    const processes = [...(this.pending.get(trace)?.keys() ?? [])];
    this.settle(trace);
    this.modelByTrace.delete(trace);
    for (const process of processes) this.systemByProcess.delete(process);
  }

  private waitFor(process: string, trace: string): void {
    const traces = this.waitingFor.get(process) ?? new Set();
    this.waitingFor.set(process, traces);
    if (traces.has(trace)) return;
    traces.add(trace);
    this.missing.set(trace, (this.missing.get(trace) ?? 0) + 1);
  }

  /** @param only the trace that has ended; undefined for all traces that wait for this process */
  private waitNoMore(process: string, only?: string): void {
    const traces = this.waitingFor.get(process);
    if (traces === undefined) return;
    for (const trace of only === undefined ? [...traces] : [only]) {
      if (!traces.delete(trace)) continue;
      const left = (this.missing.get(trace) ?? 0) - 1;
      if (left > 0) this.missing.set(trace, left);
      else this.missing.delete(trace);
    }
    if (traces.size === 0) this.waitingFor.delete(process);
  }

  private recordsFor(model: string | undefined, system: string | undefined, place: string): ModelRecords {
    const key = JSON.stringify([model, system]);
    let records = this.records.get(key);
    if (records === undefined) {
      if (this.records.size >= MAX_MODELS) {
        throw traceError(this.source, place, `more than ${MAX_MODELS} models; split the file`);
      }
      records = new ModelRecords(model, system);
      this.records.set(key, records);
    }
    return records;
  }

  private put(records: ModelRecords, what: number, ms: number, facts?: KernelFacts): void {
    if (what < 0) {
      if (!Number.isNaN(ms)) (what === WHOLE ? records.whole : records.tracedWhole).add(ms);
      return;
    }
    if (facts !== undefined) {
      const over = records.facts.get(what) ?? new FactsOverRuns();
      records.facts.set(what, over);
      over.add(facts);
    }
    const samples = records.layers.get(what) ?? new Samples();
    records.layers.set(what, samples);
    if (!Number.isNaN(ms)) samples.add(ms);
  }

  finish(onePerPosition: boolean): readonly TracedModel[] {
    for (const trace of [...this.pending.keys()]) this.settle(trace);
    return [...this.records.values()].map(({ model, system, traceIds, layers, facts, whole, tracedWhole }) => {
      const ids = this.leaves([...layers.keys()]);
      if (onePerPosition) this.refuseTwice(ids, model);
      return {
        model,
        system,
        source: this.source,
        traceIds,
        layers: ids
          .flatMap((id): MeasuredLayer | [] => {
            const layer = this.layers.all[id];
            if (layer === undefined) return [];
            const samples = layers.get(id);
            const measured = { samplesMs: samples?.values ?? [], runs: samples?.count ?? 0 };
            return { ...layer, ...measured, ...facts.get(id)?.facts, ...(this.isInOrder && { order: id }) };
          })
          .sort((a, b) => comparePaths(a.index, b.index)),
        wholeMs: whole.values,
        tracedWholeMs: tracedWhole.values,
      };
    });
  }

  /** Ids of the layers that contain no other layer: the time of module 0-1 includes the time of 0-1-2. */
  private leaves(ids: readonly number[]): readonly number[] {
    const modules = new Set<string>();
    for (const id of ids) {
      const path = this.layers.all[id]?.index.split('-') ?? [];
      for (let length = 1; length < path.length; length++) modules.add(path.slice(0, length).join('-'));
    }
    return modules.size === 0 ? ids : ids.filter((id) => !modules.has(this.layers.all[id]?.index ?? ''));
  }

  private refuseTwice(ids: readonly number[], model: string | undefined): void {
    const first = new Map<string, number>();
    for (const id of ids) {
      const layer = this.layers.all[id];
      if (layer === undefined) continue;
      const position = `${layer.index} ${layer.last ?? ''} ${layer.granularity ?? ''}`;
      const other = first.get(position);
      if (other === undefined) {
        first.set(position, id);
        continue;
      }
      const problem = `layer ${layer.index} of ${quoted(model ?? '')} is not the same as at ${this.places[other] ?? ''}; rows of one layer differ in their durations only`;
      throw traceError(this.source, this.places[id] ?? '', problem);
    }
  }
}

/** Orders 2 before 10, and 0-9 before 0-10. */
function comparePaths(a: string, b: string): number {
  const pathA = a.split('-').map(Number);
  const pathB = b.split('-').map(Number);
  for (let i = 0; i < Math.max(pathA.length, pathB.length); i++) {
    const difference = (pathA[i] ?? -1) - (pathB[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
