import { isEntry, valuesIn } from './entry.js';
import { ELEMENTS, JsonPicker } from './json-picker.js';
import { emitPlatformSpan, describedSystem, normalizeTraceId } from './platform-span.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TraceReader } from './trace-record.js';

/** Older producers wrote `instrumentationLibrarySpans`. A resource comes before its spans. */
const PATHS = [
  ['resourceSpans', ELEMENTS, 'resource'],
  ['resourceSpans', ELEMENTS, 'scopeSpans', ELEMENTS, 'spans', ELEMENTS],
  ['resourceSpans', ELEMENTS, 'instrumentationLibrarySpans', ELEMENTS, 'spans', ELEMENTS],
] as const;

/** An AnyValue: exactly one of stringValue, intValue (a number or decimal text), doubleValue, boolValue, arrayValue. */
function anyValue(value: unknown): unknown {
  if (!isEntry(value)) return undefined;
  const { stringValue, intValue, doubleValue, boolValue, arrayValue } = value;
  if (arrayValue !== undefined && isEntry(arrayValue)) {
    const values: unknown = arrayValue['values'];
    return Array.isArray(values) ? values.map(anyValue) : [];
  }
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;
}

/** Nanoseconds since 1970 from decimal text, as a bigint, because a double is not exact. */
function nanoseconds(value: unknown): bigint | undefined {
  const text = String(value);
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

function readSpan(value: unknown, system: string | undefined, source: string, place: string, emit: Emit): void {
  if (!isEntry(value)) throw traceError(source, place, `expected a span, found ${quoted(JSON.stringify(value))}`);
  const start = nanoseconds(value['startTimeUnixNano']);
  const end = nanoseconds(value['endTimeUnixNano']);
  if (start === undefined || end === undefined) {
    throw traceError(source, place, 'startTimeUnixNano, endTimeUnixNano: expected nanoseconds as decimal text');
  }
  const { name, traceId, attributes } = value;
  const span = {
    trace: String(traceId),
    traceId: normalizeTraceId(traceId),
    process: system,
    name: typeof name === 'string' ? name : '',
    durationMs: Number(end - start) / 1e6,
    tag: valuesIn(attributes, anyValue),
  };
  emitPlatformSpan(span, source, place, emit);
}

/** OTLP's JSON encoding: one export request, or one per line, as collectors write them. */
export const otlp: TraceReader = {
  detects: (head) => /"resourceSpans"\s*:/.test(head),
  async read(chunks, source, emit) {
    let system: string | undefined;
    const picker = new JsonPicker(source, PATHS, (path, value, offset) => {
      const place = `byte ${offset}`;
      if (path > 0) {
        readSpan(value, system, source, place, emit);
        return;
      }
      system = describedSystem(valuesIn(isEntry(value) ? value['attributes'] : undefined, anyValue));
      if (system !== undefined) emit({ kind: 'system', process: system, system }, place);
    });
    await picker.read(chunks);
  },
};
