import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { isAbleTo } from '../agent/agent-description.js';
import { wholeBenchmark } from '../agent/own-weights.js';
import { FIRST_ELEMENTS, type RunValue } from '../agent/run-value.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { finite } from '../base/finite.js';
import { AS_IT_IS } from '../measurement/as-it-is.js';
import type { RunOptions } from '../measurement/system.js';
import { ELEMENT_TYPES } from '../onnx/model/element-type.js';
import { topK } from '../processing/classes.js';
import type { LoadedModel } from '../registry/load-model.js';
import type { LoggedModel, LoggedOutput } from './log-schema.js';

/** So that the largest five are known. */
const OUTPUT_ELEMENTS = 65_536;

const MAX_LAYERS = 1000;

const TOP = 5;

/** Largest elements of each row of the last dimension. Empty where too few, or not all are known. */
export function topOf({ dims, elements, stride, elementType }: RunValue): readonly (readonly number[])[] {
  const width = dims.at(-1) ?? 0;
  if (stride !== 1 || width <= TOP || ELEMENT_TYPES[elementType].kind !== 'float') return [];
  return Array.from({ length: elements.length / width }, (_, row) => {
    return topK(elements.slice(row * width, (row + 1) * width), TOP).map(({ index }) => index);
  });
}

function loggedOutput(name: string, value: RunValue): LoggedOutput {
  const rows = topOf(value);
  return {
    name,
    element_type: value.elementType,
    dims: [...value.dims],
    sha256: value.sha256,
    first: value.first.slice(0, FIRST_ELEMENTS).map(finite),
    norm: value.norm,
    not_finite: value.notFinite,
    top_5: rows.length === 1 ? [...(rows[0] ?? [])] : null,
  };
}

export function listOutputNames({ model }: Pick<LoadedModel, 'model'>): readonly string[] {
  return model.graph.nodes.flatMap(({ outputs }) => outputs.filter((name) => name !== ''));
}

export type LoggedRun = Pick<LoggedModel, 'outputs' | 'layers' | 'reasons'>;

/** A model that cannot run has a reason. */
export async function runOutputs(
  loaded: Pick<LoadedModel, 'model' | 'weights'>,
  runOptions: RunOptions,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<LoggedRun> {
  if (!isAbleTo(agent.description, 'run_once')) {
    const reason = 'the agent is of a version that returns no outputs';
    return { outputs: null, layers: null, reasons: { outputs: reason, layers: reason } };
  }
  const reasons = new Map<string, string>();
  const because = (field: string) => (error: unknown) => {
    if (signal.aborted || (error instanceof PlatformError && error.code === 'unavailable')) throw error;
    reasons.set(field, messageOf(error));
    return null;
  };
  const benchmark = await wholeBenchmark(loaded, agent);
  const values = await agent
    .runOnce(benchmark, runOptions, { signal, elements: OUTPUT_ELEMENTS })
    .catch(because('outputs'));
  const all = await agent.runOnce(benchmark, AS_IT_IS, { signal, everyValue: true }).catch(because('layers'));
  const names = listOutputNames(loaded)
    .filter((name) => all?.has(name))
    .slice(0, MAX_LAYERS);
  return {
    outputs: values && [...values].map(([name, value]) => loggedOutput(name, value)),
    layers: all && { names, norms: names.map((name) => all.get(name)?.norm ?? 0) },
    reasons: Object.fromEntries(reasons),
  };
}
