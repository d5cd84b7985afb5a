import { factsOfTags } from '../measurement/kernel-facts.js';
import { TRACE_LEVELS } from '../tracing/trace-level.js';
import { parseBoundedJson } from '../base/bounded-json.js';
import { isEntry } from './entry.js';
import { isLayerIndex, MAX_WORK } from './layer-limits.js';
import { parseShapes } from './shapes.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TracedLayer, TracedTensor } from './trace-record.js';

const FRAMEWORK_LEVEL = TRACE_LEVELS.indexOf('FRAMEWORK_TRACE');

/** An id as OpenTelemetry writes it, since Jaeger leaves leading zeros out; undefined for any other text. */
export function normalizeTraceId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{1,32}$/i.test(value)
    ? value.toLowerCase().padStart(32, '0')
    : undefined;
}

/** Name of the span of one execution of a whole model. */
const PREDICT = 'c_predict';

/** Tag of a run of bricks instead of a whole model. */
const BRICKS_TAG = 'bricks';

/** Names the system of a trace; without it, the values of HOST_TAGS are joined, which lists other names of each tag. */
const SYSTEM_TAG = 'system';
const HOST_TAGS = [
  ['host.name', 'hostname'],
  ['host.cpu.model.name', 'cpu.model'],
  ['framework_name'],
  ['framework_version'],
] as const;

export interface PlatformSpan {
  readonly trace: string;
  readonly traceId: string | undefined;
  readonly process?: string | undefined;
  readonly name: string;
  readonly durationMs: number;
  tag(name: string): unknown;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

function parseLevel(value: unknown): number | undefined {
  const text = readText(value);
  if (text === undefined) return undefined;
  const level = /^\d$/.test(text) ? Number(text) : TRACE_LEVELS.findIndex((name) => name === text.toUpperCase());
  return level < 0 ? undefined : level;
}

/** Names of layers in traces of the platform's Python agents: <0-1-2>__<name>__<Type>. */
const PYTHON_NAME = /^(?<index>\d+(?:-\d+)*)__(?<name>.*)__(?<type>[^_].*)$/;

function splitTypes(value: unknown, count: number): readonly (string | undefined)[] | undefined {
  const types = typeof value === 'string' ? value.split(';', count + 1) : [];
  return types.length === count ? types.map((type) => (type === '' ? undefined : type)) : undefined;
}

function readTensors(
  span: PlatformSpan,
  side: 'input' | 'output',
  names: readonly string[],
): readonly TracedTensor[] | undefined {
  for (const name of names) {
    const value = span.tag(name);
    const text = typeof value === 'string' ? value : Array.isArray(value) ? JSON.stringify(value) : undefined;
    const shapes = text === undefined ? undefined : parseShapes(text);
    if (shapes === undefined) continue;
    // Older traces have the type of the first output only.
    const first = side === 'output' ? readText(span.tag('element_type')) : undefined;
    const types = splitTypes(span.tag(`${side}_types`), shapes.length) ?? [first];
    return shapes.map((dims, index) => ({ elementType: types[index], dims }));
  }
  return undefined;
}

function parseJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseBoundedJson(value);
  } catch {
    return undefined;
  }
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function parseCount(value: unknown): number | undefined {
  const count = typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : NaN;
  return count >= 0 && count <= MAX_WORK ? count : undefined;
}

/** The operator in the name of an operation, without scopes and number: conv2d for resnet/conv2d_12. */
function operatorIn(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).replace(/(?<=.)_\d+$/, '');
}

function readLayer(span: PlatformSpan, place: string, source: string): TracedLayer | undefined {
  const named = PYTHON_NAME.exec(span.name)?.groups;
  const index = readText(span.tag('layer_sequence_index')) ?? named?.['index'];
  if (index === undefined) return undefined;
  if (!isLayerIndex(index)) {
    throw traceError(
      source,
      place,
      `layer_sequence_index: expected a number such as 7 or 0-1-2, found ${quoted(index)}`,
    );
  }
  const attributes = parseJson(span.tag('attributes'));
  const after = parseJson(span.tag('after'));
  return {
    index,
    name: named?.['name'] ?? span.name,
    operator: readText(span.tag('op_name')) ?? named?.['type'] ?? operatorIn(span.name),
    signature: readText(span.tag('signature')),
    attributes: isEntry(attributes) ? attributes : undefined,
    inputs: readTensors(span, 'input', ['input_shapes', 'input_shape']),
    outputs: readTensors(span, 'output', ['output_shapes', 'output_shape', 'shape']),
    operations: parseCount(span.tag('operations')),
    bytes: parseCount(span.tag('bytes')),
    after: Array.isArray(after) ? after.filter(isIndex) : undefined,
  };
}

/** The system that the platform's tags describe; undefined where there are no such tags. */
export function describedSystem(tag: (name: string) => unknown): string | undefined {
  const given = readText(tag(SYSTEM_TAG));
  if (given !== undefined) return given;
  const facts = HOST_TAGS.flatMap((names) => {
    const fact = names.map((name) => readText(tag(name))).find((value) => value !== undefined);
    return fact === undefined ? [] : [fact];
  });
  return facts.length === 0 ? undefined : facts.join(', ');
}

/**
 * Emits a layer, an execution of the whole model, or the model of the trace; ignores other spans. Tags are those of
 * MLModelScope's tracers: `c_predict` {evaluation_trace_level}; layers {trace_level = FRAMEWORK_TRACE,
 * layer_sequence_index, op_name, shape}; `evaluation_…` {model_name, model_version}.
 */
export function emitPlatformSpan(span: PlatformSpan, source: string, place: string, emit: Emit): void {
  const { trace, traceId, process, durationMs } = span;
  if (!Number.isFinite(durationMs) || durationMs < 0) {
    throw traceError(source, place, `a duration of ${durationMs} ms; expected a time from zero up`);
  }
  const modelName = readText(span.tag('model_name'));
  const system = readText(span.tag(SYSTEM_TAG));
  if (modelName !== undefined) emit({ kind: 'model', trace, model: modelName }, place);
  if (system !== undefined) emit({ kind: 'system', process, system }, place);
  const evaluated = parseLevel(span.tag('evaluation_trace_level'));
  if (span.name === PREDICT || evaluated !== undefined) {
    if (span.tag(BRICKS_TAG) !== undefined) return;
    const layersTraced = (evaluated ?? FRAMEWORK_LEVEL) >= FRAMEWORK_LEVEL;
    emit({ kind: 'whole', trace, traceId, process, layersTraced, durationsMs: [durationMs] }, place);
    return;
  }
  const level = parseLevel(span.tag('trace_level'));
  if (level !== undefined && level !== FRAMEWORK_LEVEL) return;
  const layer = readLayer(span, place, source);
  if (layer === undefined) return;
  const facts = factsOfTags((name) => span.tag(name));
  emit({ kind: 'layer', trace, traceId, process, layer, facts, durationsMs: [durationMs] }, place);
}
