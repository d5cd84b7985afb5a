import {
  type Benchmark,
  type BenchmarkInput,
  type DeclaredType,
  isProducible,
  isStandard,
  type LayerGraph,
  type Node,
  Producers,
  sumOf,
  type TensorType,
  tensorBytes,
} from '../../../src/plugin-api.js';
import { typesOf } from '../work/layer-facts.js';
import { ANY_OPSET, buildBenchmark, joinNode, shapeNode } from './empty-call.js';

/** Handing over less takes no significant time. */
const MIN_BYTES = 2 ** 16;

export type OutputCopy = NonNullable<ReturnType<typeof outputCopy>>;

/** Their output is their input, as it is in memory. An output of the graph is a copy of it. */
const NOT_COPYING: ReadonlySet<string> = new Set(['Flatten', 'Identity', 'Reshape', 'Squeeze', 'Unsqueeze']);

export interface OutputType extends TensorType {
  /** By a kernel that takes no time within a graph. */
  readonly isCopied?: true;
}

/** @param names outputs of the model */
export function outputTypes(graph: LayerGraph, names: readonly string[]): readonly OutputType[] {
  const notCopying = graph.layers.filter((layer) => isStandard(layer) && NOT_COPYING.has(layer.opType));
  const copied = new Set(notCopying.flatMap(({ outputs }) => outputs));
  return names.flatMap((name) =>
    typesOf(graph, [name]).map((type) => (copied.has(name) ? { ...type, isCopied: true as const } : type)),
  );
}

export function outputCopy(outputs: readonly OutputType[]) {
  if (sumOf(outputs.map(tensorBytes)) < MIN_BYTES) return undefined;
  const values = outputs.map(({ elementType, dims }, index): BenchmarkInput => {
    const fill = { low: -1, high: 1, seed: 0 };
    return { name: `value${index}`, role: 'activation', elementType, dims, fill };
  });
  const large = values.filter(isProducible);
  if (large.length === 0) return undefined;

  const inputs: BenchmarkInput[] = [];
  const producers = new Producers((weight) => {
    inputs.push({ ...weight, fill: { ...weight.fill, seed: inputs.length + 1 } });
  });
  for (const value of large) producers.produce(value, value.name);
  const graphOf = (nodes: readonly Node[], ends?: ReadonlyMap<string, DeclaredType>): Benchmark => {
    const graph = { name: 'handing over', nodes: [...producers.nodes, ...nodes], initializers: new Map() };
    const model = { source: 'handing over', irVersion: 10, opsets: new Map([['', ANY_OPSET]]), graph };
    return buildBenchmark(model, inputs, ends);
  };
  const leaving = new Map<string, DeclaredType>();
  const copies: Node[] = [];
  for (const value of large) {
    const { name, elementType, dims } = value;
    const isCopied = outputs[values.indexOf(value)]?.isCopied === true;
    const output = isCopied ? `${name}_copy` : name;
    leaving.set(output, { elementType, dims });
    if (isCopied) {
      copies.push({ name: '', opType: 'Identity', domain: '', inputs: [name], outputs: [output], attributes: [] });
    }
  }
  const shapes = large.map((_, index) => `shape${index}`);
  return {
    types: outputs,
    returned: graphOf(copies, leaving),
    kept: graphOf([...large.map(({ name }, index) => shapeNode(name, shapes[index] ?? '')), joinNode(shapes)]),
  };
}
