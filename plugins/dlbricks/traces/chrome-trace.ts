export interface TimedPart {
  readonly name: string;
  readonly operator: string;
  readonly ms: number;
  readonly tags: Readonly<Record<string, unknown>>;
}

export interface WrittenModel {
  readonly name: string;
  readonly system: string;
  /** Whether the parts were measured or estimated, for display. */
  readonly title: string;
  readonly parts: readonly TimedPart[];
  /** Its latency as a whole, measured without layer tracing; undefined where it was not. */
  readonly wholeMs: number | undefined;
}

const PARTS_THREAD = 1;
const WHOLE_THREAD = 2;

function* listEvents(model: WrittenModel, pid: number): Generator<object> {
  const { name, system, title, parts, wholeMs } = model;
  // Some readers ask for category, thread and time of every event, though metadata have no time.
  const metadata = { ph: 'M', cat: '__metadata', pid, tid: 0, ts: 0 };
  const label = (tid: number, text: string): object => {
    return { ...metadata, name: 'thread_name', tid, args: { name: text } };
  };
  yield { ...metadata, name: 'process_name', args: { name } };
  yield { ...metadata, name: 'process_labels', args: { labels: system } };
  yield label(PARTS_THREAD, title);
  const totalUs = parts.reduce((sum, { ms }) => sum + ms * 1000, 0);
  const context = { model_name: name, system, trace_level: 'APPLICATION_TRACE' };
  yield { ph: 'X', cat: 'model', name: title, pid, tid: PARTS_THREAD, ts: 0, dur: totalUs, args: context };
  let ts = 0;
  for (const [index, { name: part, operator, ms, tags }] of parts.entries()) {
    const args = { trace_level: 'FRAMEWORK_TRACE', layer_sequence_index: String(index), op_name: operator, ...tags };
    yield { ph: 'X', cat: 'layer', name: part || operator, pid, tid: PARTS_THREAD, ts, dur: ms * 1000, args };
    ts += ms * 1000;
  }
  if (wholeMs === undefined) return;
  yield label(WHOLE_THREAD, 'whole model, measured');
  const args = { trace_level: 'MODEL_TRACE', evaluation_trace_level: 'MODEL_TRACE' };
  yield { ph: 'X', cat: 'model', name: 'c_predict', pid, tid: WHOLE_THREAD, ts: 0, dur: wholeMs * 1000, args };
}

/** Times are microseconds. Perfetto and chrome://tracing open it, and `dlbricks import` reads it again. */
export function chromeTrace(models: readonly WrittenModel[]): string {
  const events = models.flatMap((model, i) => [...listEvents(model, i + 1)]);
  return `{"displayTimeUnit":"ms","traceEvents":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}
