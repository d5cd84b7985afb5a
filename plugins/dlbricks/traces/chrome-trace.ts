import { stackText, type System, toSystemDocument } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { type ModelResult, wholeLatency } from '../report/evaluation-result.js';
import type { TracedSum } from './estimate-from-traces.js';
import type { LayerFacts } from '../work/layer-facts.js';

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

/** Stands for an operator where a run's call is timed. */
export const CALL = '(empty call)';

/** A difference between a sum and its parts below this is a rounding error. */
const MIN_CALL_MS = 1e-6;

/** Each brick as often as the model has it, and the call of a run. Missing bricks have no event. */
export function timedEstimate({ estimate, endToEnd }: ModelResult, system: System): WrittenModel {
  const bricks = estimate.parts.flatMap(
    ({ signature, operators, count, prediction, ms = prediction?.ms }): TimedPart[] => {
      if (ms === undefined) return [];
      const part = { name: operatorsLabel(operators), operator: operators.join('+'), ms, tags: { signature } };
      return Array.from({ length: count }, () => part);
    },
  );
  const callMs = (estimate.sequential?.ms ?? 0) - bricks.reduce((sum, { ms }) => sum + ms, 0);
  const call = { name: 'call', operator: CALL, ms: callMs, tags: {} };
  return {
    name: estimate.name,
    // The same text for measurements that may be mixed.
    system: `${stackText(toSystemDocument(system))}, ${system.fingerprint.slice(0, 12)}`,
    title: 'estimate from bricks',
    wholeMs: wholeLatency(endToEnd) ?? undefined,
    parts: callMs > MIN_CALL_MS ? [...bricks, call] : bricks,
  };
}

function listShapes(tensors: LayerFacts['inputs']): readonly (readonly number[])[] | undefined {
  return tensors?.map(({ dims }) => dims);
}

/** Element types in the order of {@link listShapes}, separated by semicolons. */
function formatTypes(tensors: LayerFacts['inputs']): string | undefined {
  return tensors?.map(({ elementType = '' }) => elementType).join(';');
}

/** Missing sequences have no event. Sequences of several layers have only their operators. */
export function timedSum({ target, parts }: TracedSum, system: string): WrittenModel {
  return {
    name: target.name,
    system,
    title: 'estimate from traces',
    wholeMs: target.wholeMs,
    parts: parts.flatMap(({ sequence, ms, foundBy }) => {
      if (ms === undefined) return [];
      const { layers, name } = sequence;
      const [first, second] = layers;
      const operator = layers.map((layer) => layer.operator).join('+');
      if (first === undefined || second !== undefined) return [{ name, operator, ms, tags: { found_by: foundBy } }];
      const { signature, attributes, inputs, outputs, operations, bytes } = first;
      const tags = {
        found_by: foundBy,
        signature,
        attributes,
        input_shapes: listShapes(inputs),
        output_shapes: listShapes(outputs),
        input_types: formatTypes(inputs),
        output_types: formatTypes(outputs),
        operations,
        bytes,
      };
      return [{ name, operator, ms, tags }];
    }),
  };
}
