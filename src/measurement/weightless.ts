import { oncePer } from '../base/once-per.js';
import { sha256Of } from '../base/sha256.js';
import { withCanonicalQuantization } from '../onnx/layers/canonical-quantization.js';
import { fillRange, typedGraph } from '../onnx/values/fill-range.js';
import type { DeclaredType, Graph, InputValues, Model, Tensor } from '../onnx/model/model.js';
import type { ReadingBudget } from '../onnx/bytes/reading-budget.js';
import { parseModel } from '../onnx/read/read-model.js';
import { staticInputType } from '../onnx/model/static-type.js';
import { steeringConstants } from '../onnx/operators/steering.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import type { Benchmark, BenchmarkInput } from './benchmark.js';

export function computeSignature(model: Uint8Array): string {
  return sha256Of(model);
}

/** Weights become inputs, after the model's own; steering constants stay. @throws PlatformError `model` if unbound */
export function weightlessModel(given: Model): { readonly model: Model; readonly inputs: readonly BenchmarkInput[] } {
  const model = withCanonicalQuantization(given);
  const { graph } = model;
  const steering = steeringConstants(graph);
  const kept = new Map<string, Tensor>();
  const weights: string[] = [];
  const types = new Map<string, DeclaredType>(graph.types);
  for (const [name, tensor] of graph.initializers) {
    if (steering.has(name)) kept.set(name, tensor);
    else {
      weights.push(name);
      types.set(name, { elementType: tensor.elementType, dims: tensor.dims });
    }
  }
  const weightless: Graph = { ...graph, inputs: [...graph.inputs, ...weights], initializers: kept, types };
  const indexed = typedGraph(weightless);
  const firstWeight = graph.inputs.length;
  const inputs = weightless.inputs.map((name, index): BenchmarkInput => {
    const { elementType, dims } = staticInputType({ ...model, graph: weightless }, name);
    const given = graph.given?.get(name);
    const fill = { ...(given ?? fillRange(indexed, name, { elementType, dims })), seed: index + 1 };
    const role = index < firstWeight ? 'activation' : 'weight';
    return { name, role, elementType, dims, fill, ...(given && { isGiven: true }) };
  });
  return { model: { ...model, graph: weightless }, inputs };
}

/** The signature includes names; callers that want none rename values first. @throws as {@link weightlessModel} */
export const weightlessBenchmark = oncePer((given: Model): Benchmark => {
  const { model, inputs } = weightlessModel(given);
  const bytes = encodeModelToBytes(model);
  return { signature: computeSignature(bytes), model: bytes, inputs };
});

/** The signature of a model without its name: models with the same one differ at most in their weights. */
export const signatureWithoutName = oncePer((model: Model): string => {
  return weightlessBenchmark({ ...model, graph: { ...model.graph, name: '' } }).signature;
});

export function givenValues({ inputs }: Benchmark): ReadonlyMap<string, InputValues> {
  return new Map(
    inputs.flatMap(({ name, isGiven, fill: { low, high, list } }) => (isGiven ? [[name, { low, high, list }]] : [])),
  );
}

/** The inverse of {@link weightlessBenchmark}. @throws PlatformError `model` where the file is not a model */
export function modelFromBenchmark(benchmark: Benchmark, source: string, budget?: ReadingBudget): Model {
  const { model, inputs } = benchmark;
  const parsed = parseModel(model, source, budget);
  const weights = inputs.filter(({ role }) => role === 'weight');
  const names = new Set(weights.map(({ name }) => name));
  const filled = weights.map(({ name, elementType, dims, fill }): [string, Tensor] => {
    return [name, { elementType, dims, data: { kind: 'fill', fill } }];
  });
  const { graph } = parsed;
  return {
    ...parsed,
    graph: {
      ...graph,
      inputs: graph.inputs.filter((name) => !names.has(name)),
      initializers: new Map([...graph.initializers, ...filled]),
      types: new Map([...graph.types].filter(([name]) => !names.has(name))),
      given: givenValues(benchmark),
    },
  };
}
