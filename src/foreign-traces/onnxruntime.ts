import { readKernelFacts } from '../measurement/kernel-facts.js';
import { elementTypeOfProfile } from '../onnx/model/element-type.js';
import { type Entry, isEntry } from './entry.js';
import { ELEMENTS, JsonPicker } from './json-picker.js';
import { isLayerIndex } from './layer-limits.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TracedTensor, TraceReader } from './trace-record.js';

/** Suffix of the name of an event that is one execution of a node; older versions also write fence events. */
const KERNEL = '_kernel_time';

const MODEL_RUN = 'model_run';

/** A profile is of one session, and thus of one model. */
const TRACE = 'session';

/** A list of {type: dims}, one entry per tensor. */
function readTensors(value: unknown): readonly TracedTensor[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const tensors: TracedTensor[] = [];
  for (const entry of value as readonly unknown[]) {
    if (!isEntry(entry)) return undefined;
    for (const [type, dims] of Object.entries(entry)) {
      if (!Array.isArray(dims) || !dims.every((dim) => Number.isInteger(dim))) return undefined;
      tensors.push({ elementType: elementTypeOfProfile(type, 'onnxruntime'), dims: dims as number[] });
    }
  }
  return tensors;
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readEvent(event: Entry, source: string, place: string, emit: Emit): void {
  const { cat, name, dur, args } = event;
  const isNode = cat === 'Node' && typeof name === 'string' && name.endsWith(KERNEL);
  if (!isNode && !(cat === 'Session' && name === MODEL_RUN)) return;
  if (typeof dur !== 'number' || !Number.isFinite(dur) || dur < 0) {
    throw traceError(
      source,
      place,
      `dur: expected microseconds from zero up, found ${quoted(JSON.stringify(dur ?? null))}`,
    );
  }
  const durationsMs = [dur / 1000];
  if (!isNode) {
    emit({ kind: 'whole', trace: TRACE, layersTraced: true, durationsMs }, place);
    return;
  }
  const facts = isEntry(args) ? args : {};
  const index = readText(facts['node_index']);
  const operator = readText(facts['op_name']);
  if (!isLayerIndex(index) || operator === '') {
    throw traceError(source, place, 'args: expected node_index and op_name, as ONNX Runtime 1.9 and newer write them');
  }
  const layer = {
    index,
    name: name.slice(0, -KERNEL.length),
    operator,
    inputs: readTensors(facts['input_type_shape']),
    outputs: readTensors(facts['output_type_shape']),
  };
  emit({ kind: 'layer', trace: TRACE, layer, facts: readKernelFacts(facts), inOrder: true, durationsMs }, place);
}

/** A profile of ONNX Runtime (`enableProfiling`): events of the category Node, one for each execution of a node. */
export const onnxruntime: TraceReader = {
  detects: (head) => /"cat"\s*:\s*"(Session|Node)"/.test(head),
  async read(chunks, source, emit) {
    emit({ kind: 'model', trace: TRACE, model: undefined }, 'byte 0');
    const onEvent = (_path: number, value: unknown, offset: number): void => {
      if (isEntry(value)) readEvent(value, source, `byte ${offset}`, emit);
    };
    await new JsonPicker(source, [[ELEMENTS], ['traceEvents', ELEMENTS]], onEvent, { mayBeCut: true }).read(chunks);
  },
};
