import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Brick } from '../../../../plugins/dlbricks/bricks/brick.js';
import type { Sequence } from '../../../../plugins/dlbricks/cut/layer-cut.js';
import { inferTypes } from '../../../../src/agent/jobs/infer-types.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import type { RunOptions } from '../../../../src/measurement/system.js';
import { weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import type { InferredValue, LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Graph, Model, Tensor } from '../../../../src/onnx/model/model.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { sortedAttributes } from '../../../../src/onnx/layers/rename-subgraphs.js';
import { capturedNames } from '../../../../src/onnx/model/subgraphs.js';
import { encodeModelToBytes } from '../../../../src/onnx/write/write-model.js';
import { encodeInline } from '../../../../src/predictor/encode-weights.js';
import { makeFeeds, materialize } from '../../../../src/predictor/materialize.js';
import { onnxRuntimePredictor } from '../../../../src/predictor/onnxruntime/predictor.js';
import { elementsOf, type TensorValue } from '../../../../src/predictor/tensor-value.js';

export type Values = ReadonlyMap<string, TensorValue>;

const MAX_BYTES = 2 ** 28;

const predictor = onnxRuntimePredictor();

async function run(bytes: Uint8Array, feeds: Values, level: RunOptions['optimizationLevel'] = 'all'): Promise<Values> {
  const options: RunOptions = { threads: 1, executionProvider: 'cpu', optimizationLevel: level };
  const model = await predictor.open({ kind: 'bytes', bytes }, options);
  try {
    return await model.prepare(feeds).evaluate();
  } finally {
    await model.close();
  }
}

/** The outputs of a benchmark as an agent runs it: weights and inputs made up. */
export function runBenchmark(benchmark: Benchmark): Promise<Values> {
  const bytes = encodeInline(materialize(benchmark), MAX_BYTES);
  assert.ok(bytes !== undefined);
  return run(bytes, makeFeeds(benchmark));
}

/** The values that an agent infers by running a benchmark. */
export function inferredFromBenchmark(benchmark: Benchmark): Promise<ReadonlyMap<string, InferredValue>> {
  const job = { kind: 'infer-types', benchmark, memoryLimitBytes: MAX_BYTES } as const;
  return inferTypes(job, { predictor, temporaryFolder: join(tmpdir(), 'dlbricks-unused') });
}

/** The values that an agent infers by running a model. */
export function inferredByRuntime(model: Model): Promise<ReadonlyMap<string, InferredValue>> {
  return inferredFromBenchmark(weightlessBenchmark(model));
}

/** A model's inputs, made up, and every value that it computes from them with its own weights. */
export async function runWhole(model: Model): Promise<Values> {
  const feeds = makeFeeds(weightlessBenchmark(model));
  const outputs = model.graph.nodes.flatMap((node) => node.outputs);
  const bytes = encodeModelToBytes({ ...model, graph: { ...model.graph, outputs } });
  return new Map([...feeds, ...(await run(bytes, feeds, 'disabled'))]);
}

/** The value of the model that each value of a brick stands for. */
function sourceNames({ layers }: LayerGraph, { first }: Sequence, brick: Graph): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const [index, node] of brick.nodes.entries()) {
    const layer = layers[first + index];
    assert.equal(node.opType, layer?.opType);
    const captured = capturedNames({ attributes: sortedAttributes(layer?.attributes ?? []) });
    const theirs = [...(layer?.inputs ?? []), ...captured, ...(layer?.outputs ?? [])];
    const ours = [...node.inputs, ...capturedNames(node), ...node.outputs];
    for (const [i, name] of ours.entries()) sources.set(name, theirs[i] ?? '');
  }
  return sources;
}

/** A brick's outputs by the names that they have in the model. */
export async function runBrick(graph: LayerGraph, sequence: Sequence, brick: Brick): Promise<Values> {
  const sources = sourceNames(graph, sequence, parseModel(brick.model, 'brick').graph);
  return new Map([...(await runBenchmark(brick))].map(([name, result]) => [sources.get(name) ?? '', result]));
}

/**
 * A brick's outputs, by the names that they have in the model, from the model's own weights.
 *
 * @param values the values that the model computes before this sequence, including those that it computes from weights
 */
export async function runBrickOn(values: Values, graph: LayerGraph, sequence: Sequence, brick: Brick): Promise<Values> {
  const parsed = parseModel(brick.model, 'brick');
  const sources = sourceNames(graph, sequence, parsed.graph);
  const valueOf = (name: string): TensorValue => {
    const found = values.get(sources.get(name) ?? '');
    assert.ok(found !== undefined, `${name} does not exist yet`);
    return found;
  };
  const initializers = new Map(parsed.graph.initializers);
  const feeds = new Map<string, TensorValue>();
  for (const { name, role } of brick.inputs) {
    const tensor = graph.constants.get(sources.get(name) ?? '');
    if (role === 'activation') feeds.set(name, valueOf(name));
    else initializers.set(name, tensor?.data.kind === 'inline' ? tensor : constantOf(valueOf(name)));
  }
  const model: Model = { ...parsed, graph: { ...parsed.graph, inputs: [...feeds.keys()], initializers } };
  const results = await run(encodeModelToBytes(model), feeds);
  return new Map([...results].map(([name, result]) => [sources.get(name) ?? '', result]));
}

function constantOf({ elementType, dims, bytes }: TensorValue): Tensor {
  return { elementType, dims, data: { kind: 'inline', bytes } };
}

/** Largest difference between two tensors, relative to the larger of 1 and the expected value. */
export function largestDifference(actual: TensorValue | undefined, expected: TensorValue | undefined): number {
  assert.ok(actual !== undefined && expected !== undefined);
  assert.deepEqual(actual.dims, expected.dims);
  assert.equal(actual.elementType, expected.elementType);
  const theirs = Array.from(elementsOf(expected), Number);
  return Array.from(elementsOf(actual), Number).reduce((largest, value, i) => {
    const difference = Math.abs(value - (theirs[i] ?? NaN)) / Math.max(1, Math.abs(theirs[i] ?? NaN));
    return Math.max(largest, difference);
  }, 0);
}
