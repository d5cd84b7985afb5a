import { ownValue } from '../base/own-value.js';
import { type Entry, isEntry } from './entry.js';
import { ELEMENTS, JsonPicker } from './json-picker.js';
import { OutermostOperators } from './outermost-operators.js';
import { emitPlatformSpan, describedSystem, normalizeTraceId } from './platform-span.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TraceReader } from './trace-record.js';

/** Most begin events without an end event, over all threads: so memory stays bounded. */
const MAX_OPEN_EVENTS = 100_000;

/** Microseconds as a number or, as some producers write them, as text. */
function microseconds(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : NaN;
}

function nameThread({ pid, tid }: Entry): string {
  return `${String(pid)} ${String(tid)}`;
}

interface Complete {
  readonly event: Entry;
  readonly startUs: number;
  readonly durationUs: number;
  readonly place: string;
}

/** Pairs begin events (B) with their ends (E), which nest within a thread. */
class OpenEvents {
  private readonly stacks = new Map<string, Omit<Complete, 'durationUs'>[]>();
  private open = 0;

  constructor(private readonly source: string) {}

  begin(event: Entry, startUs: number, place: string): void {
    if (++this.open > MAX_OPEN_EVENTS) {
      throw traceError(this.source, place, `more than ${MAX_OPEN_EVENTS} events have begun and not ended`);
    }
    const thread = nameThread(event);
    const stack = this.stacks.get(thread);
    if (stack === undefined) this.stacks.set(thread, [{ event, startUs, place }]);
    else stack.push({ event, startUs, place });
  }

  end(event: Entry, endUs: number): Complete | undefined {
    const begun = this.stacks.get(nameThread(event))?.pop();
    if (begun === undefined) return undefined;
    this.open--;
    // Arguments of the end event are added to those of the begin event.
    const args = { ...readArguments(begun.event), ...readArguments(event) };
    const { startUs, place } = begun;
    return { event: { ...begun.event, args }, startUs, durationUs: endUs - startUs, place };
  }
}

const TIMED = new Set(['X', 'B', 'E']);

function readArguments({ args }: Entry): Entry {
  return isEntry(args) ? args : {};
}

/**
 * Chrome's trace events, which Perfetto opens as well. Layers are events with the platform's tags as arguments (as
 * `trace export` writes them), and PyTorch's operators (with `record_shapes`) that no other operator called.
 */
export const chrome: TraceReader = {
  detects: (head) => /"traceEvents"\s*:/.test(head) || (/^\s*\[/.test(head) && /"ph"\s*:\s*"/.test(head)),
  async read(chunks, source, emit: Emit) {
    const open = new OpenEvents(source);
    const operators = new OutermostOperators(source);
    const complete = ({ event, startUs, durationUs, place }: Complete): void => {
      if (!(durationUs >= 0) || !Number.isFinite(durationUs)) {
        throw traceError(source, place, `dur: expected microseconds from zero up, found ${durationUs}`);
      }
      const args = readArguments(event);
      const trace = String(event['pid']);
      const name = typeof event['name'] === 'string' ? event['name'] : '';
      const call = { trace, thread: nameThread(event), name, args, startUs, durationUs, place };
      if (event['cat'] === 'cpu_op') operators.add(call);
      else if (event['cat'] === 'user_annotation') operators.addRange(call);
      else {
        // A trace with an id may have spans of several processes.
        const traceId = normalizeTraceId(ownValue(args, 'trace_id'));
        const span = {
          trace: traceId ?? trace,
          traceId,
          process: trace,
          name,
          durationMs: durationUs / 1000,
          tag: (key: string) => ownValue(args, key),
        };
        emitPlatformSpan(span, source, place, emit);
      }
    };
    const onEvent = (_path: number, value: unknown, offset: number): void => {
      const place = `byte ${offset}`;
      if (!isEntry(value)) throw traceError(source, place, `expected an event, found ${quoted(JSON.stringify(value))}`);
      const { ph } = value;
      if (ph === 'M' && value['name'] === 'process_name') {
        const system = describedSystem((key) => ownValue(readArguments(value), key));
        if (system !== undefined) emit({ kind: 'system', process: String(value['pid']), system }, place);
      }
      if (typeof ph !== 'string' || !TIMED.has(ph)) return;
      const startUs = microseconds(value['ts']);
      if (!Number.isFinite(startUs)) throw traceError(source, place, 'ts: expected microseconds');
      if (ph === 'X') complete({ event: value, startUs, durationUs: microseconds(value['dur']), place });
      else if (ph === 'B') open.begin(value, startUs, place);
      else {
        const ended = open.end(value, startUs);
        if (ended !== undefined) complete(ended);
      }
    };
    await new JsonPicker(source, [[ELEMENTS], ['traceEvents', ELEMENTS]], onEvent, { mayBeCut: true }).read(chunks);
    await operators.finish(emit);
  },
};
