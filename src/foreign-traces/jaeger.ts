import { isEntry, valuesIn } from './entry.js';
import { ELEMENTS, JsonPicker } from './json-picker.js';
import { emitPlatformSpan, describedSystem, normalizeTraceId } from './platform-span.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TraceReader } from './trace-record.js';

/** Paths of a trace's spans and processes in `{"data": [{"traceID", "spans", "processes"}]}`, in any order. */
const PATHS = [
  ['data', ELEMENTS, 'spans', ELEMENTS],
  ['data', ELEMENTS, 'processes'],
] as const;

function readSpan(value: unknown, trace: string, source: string, place: string, emit: Emit): void {
  if (!isEntry(value)) throw traceError(source, place, `expected a span, found ${quoted(JSON.stringify(value))}`);
  const { traceID, operationName, duration, tags, processID } = value;
  if (typeof duration !== 'number') {
    throw traceError(source, place, `duration: expected a number, found ${quoted(JSON.stringify(duration ?? null))}`);
  }
  const span = {
    trace,
    traceId: normalizeTraceId(traceID),
    process: nameProcess(trace, processID),
    name: typeof operationName === 'string' ? operationName : '',
    durationMs: duration / 1000,
    tag: valuesIn(tags),
  };
  emitPlatformSpan(span, source, place, emit);
}

/** Names of processes are unique within their trace only. */
function nameProcess(trace: string, id: unknown): string {
  return `${trace} ${typeof id === 'string' ? id : ''}`;
}

/** Jaeger's JSON, as its user interface and its query service write it. */
export const jaeger: TraceReader = {
  detects: (head) => /^\s*\{\s*"data"\s*:\s*\[/.test(head) || (/"traceID"/.test(head) && /"operationName"/.test(head)),
  async read(chunks, source, emit) {
    let latest: string | undefined;
    const picker = new JsonPicker(source, PATHS, (path, value, offset, owner) => {
      const place = `byte ${offset}`;
      const trace = String(owner);
      if (latest !== undefined && latest !== trace) emit({ kind: 'end', trace: latest }, place);
      latest = trace;
      if (path === 0) readSpan(value, trace, source, place, emit);
      else if (isEntry(value)) {
        for (const [id, process] of Object.entries(value)) {
          const system = describedSystem(valuesIn(isEntry(process) ? process['tags'] : undefined));
          if (system !== undefined) emit({ kind: 'system', process: nameProcess(trace, id), system }, place);
        }
      }
    });
    await picker.read(chunks);
  },
};
