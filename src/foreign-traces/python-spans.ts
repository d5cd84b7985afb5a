import { ownValue } from '../base/own-value.js';
import { type Entry, isEntry } from './entry.js';
import { JsonPicker } from './json-picker.js';
import { Distinct } from './distinct.js';
import { emitPlatformSpan, normalizeTraceId } from './platform-span.js';
import { quoted } from '../base/quoted.js';
import { END, traceError } from './trace-error.js';
import type { Emit, TracedLayer, TraceReader, TraceRecord } from './trace-record.js';

/** Each JSON text of the file is one span, so the path is empty. */
const PATHS = [[]] as const;

/** Most executions of layers and models that are kept until the file's end; 24 bytes each. */
const MAX_EXECUTIONS = 4_000_000;

/** Stands for the whole model among the ids of layers. */
const WHOLE = -1;

/** Microseconds since 1970 of an ISO 8601 time in UTC with a fraction of a second; NaN for any other text. */
function microseconds(time: unknown): number {
  const match = typeof time === 'string' ? /^([\d-]+T[\d:]+)(?:\.(\d{1,9}))?Z$/.exec(time) : null;
  if (match === null) return NaN;
  const [, seconds = '', fraction = ''] = match;
  return Date.parse(`${seconds}Z`) * 1000 + Math.floor(Number(fraction.padEnd(9, '0')) / 1000);
}

/** The spans inside a warm-up come before the span of the warm-up itself, so all spans are kept until the end. */
class DumpedTrace {
  private readonly layers = new Distinct<TracedLayer>();
  private readonly what: number[] = [];
  private readonly startUs: number[] = [];
  private readonly durationUs: number[] = [];
  private readonly warmUps: { readonly startUs: number; readonly endUs: number }[] = [];
  private readonly system: string[] = [];
  private model: string | undefined;

  constructor(
    private readonly source: string,
    private readonly trace: string,
  ) {}

  add(name: string, startUs: number, durationUs: number, attributes: Entry, place: string): void {
    const isApplication = attributes['trace_level'] === 'APPLICATION_TRACE';
    if (name === 'Warmup') this.warmUps.push({ startUs, endUs: startUs + durationUs });
    else if (name === 'predict') this.note(WHOLE, startUs, durationUs, place);
    else if (isApplication) this.describe(name, attributes);
    else {
      const span = {
        ...this.belonging,
        name,
        durationMs: durationUs / 1000,
        tag: (key: string) => ownValue(attributes, key),
      };
      emitPlatformSpan(span, this.source, place, (record) => this.addRecord(record, startUs, durationUs, place));
    }
  }

  private get belonging() {
    return { trace: this.trace, traceId: normalizeTraceId(this.trace) };
  }

  private addRecord(record: TraceRecord, startUs: number, durationUs: number, place: string): void {
    if (record.kind === 'model') this.model = record.model;
    if (record.kind !== 'layer') return;
    const id = this.layers.idOf(record.layer, (most) => {
      return traceError(this.source, place, `more than ${most} different layers`);
    });
    this.note(id, startUs, durationUs, place);
  }

  private describe(name: string, attributes: Entry): void {
    const [, model] = /^(.+) model load$/.exec(name) ?? [];
    if (model !== undefined) this.model = model;
    for (const key of ['cpu_name', 'gpu_name']) {
      const machine = ownValue(attributes, key);
      if (typeof machine === 'string') this.system.push(machine);
    }
    const [, framework] = /^(\w+)-agent$/.exec(name) ?? [];
    if (framework !== undefined) this.system.push(framework);
  }

  private note(what: number, startUs: number, durationUs: number, place: string): void {
    if (this.what.length >= MAX_EXECUTIONS) {
      throw traceError(this.source, place, `more than ${MAX_EXECUTIONS} executions of layers; split the file`);
    }
    this.what.push(what);
    this.startUs.push(startUs);
    this.durationUs.push(durationUs);
  }

  finish(emit: Emit): void {
    const { trace, traceId } = this.belonging;
    emit({ kind: 'model', trace, model: this.model }, END);
    const process = this.system.length === 0 ? undefined : trace;
    if (process !== undefined) emit({ kind: 'system', process, system: this.system.sort().join(', ') }, END);
    const layersTraced = this.layers.all.length > 0;
    for (const [i, what] of this.what.entries()) {
      const startUs = this.startUs[i] ?? NaN;
      if (this.warmUps.some((warmUp) => warmUp.startUs <= startUs && startUs < warmUp.endUs)) continue;
      const common = { trace, traceId, process, durationsMs: [(this.durationUs[i] ?? NaN) / 1000] };
      const layer = this.layers.all[what];
      if (layer === undefined) emit({ kind: 'whole', ...common, layersTraced }, END);
      else emit({ kind: 'layer', ...common, layer }, END);
    }
    emit({ kind: 'end', trace }, END);
  }
}

/**
 * Spans of OpenTelemetry's SDK for Python (`ReadableSpan.to_json`), as the platform's Python agents save them
 * (xlab-ub/py-mlmodelscope, tracer.py). A `predict` span is a run of the whole model; those in `Warmup` do not count.
 */
export const pythonSpans: TraceReader = {
  detects: (head) => /^\s*\{\s*"name"\s*:/.test(head) && /"context"\s*:\s*\{\s*"trace_id"\s*:\s*"0x/.test(head),
  read: async (chunks, source, emit) => {
    const traces = new Map<string, DumpedTrace>();
    const picker = new JsonPicker(source, PATHS, (_path, value, offset) => {
      const place = `byte ${offset}`;
      if (!isEntry(value)) throw traceError(source, place, `expected a span, found ${quoted(JSON.stringify(value))}`);
      const { name, context, attributes, start_time: start, end_time: end } = value;
      const id = isEntry(context) ? context['trace_id'] : undefined;
      const startUs = microseconds(start);
      const endUs = microseconds(end);
      if (typeof name !== 'string' || typeof id !== 'string' || !(endUs >= startUs)) {
        throw traceError(source, place, 'expected a span with name, context.trace_id, start_time and end_time');
      }
      const trace = id.replace(/^0x/, '');
      const dumped = traces.get(trace) ?? new DumpedTrace(source, trace);
      traces.set(trace, dumped);
      dumped.add(name, startUs, endUs - startUs, isEntry(attributes) ? attributes : {}, place);
    });
    await picker.read(chunks);
    for (const trace of traces.values()) trace.finish(emit);
  },
};
