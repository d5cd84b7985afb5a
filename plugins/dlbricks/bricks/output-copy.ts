import {
  type Benchmark,
  type BenchmarkInput,
  type DeclaredType,
  isProducible,
  type Node,
  Producers,
  sumOf,
  type TensorType,
  tensorBytes,
} from '../../../src/plugin-api.js';
import { ANY_OPSET, buildBenchmark, joinNode, shapeNode } from './empty-call.js';

/** Handing over less takes no significant time. */
const MIN_BYTES = 2 ** 16;

export type OutputCopy = NonNullable<ReturnType<typeof outputCopy>>;

export function outputCopy(outputs: readonly TensorType[]) {
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
  const graphOf = (nodes: readonly Node[], leaving?: ReadonlyMap<string, DeclaredType>): Benchmark => {
    const graph = { name: 'handing over', nodes: [...producers.nodes, ...nodes], initializers: new Map() };
    const model = { source: 'handing over', irVersion: 10, opsets: new Map([['', ANY_OPSET]]), graph };
    return buildBenchmark(model, inputs, leaving);
  };
  const shapes = large.map((_, index) => `shape${index}`);
  return {
    types: outputs,
    returned: graphOf([], new Map(large.map(({ name, elementType, dims }) => [name, { elementType, dims }]))),
    kept: graphOf([...large.map(({ name }, index) => shapeNode(name, shapes[index] ?? '')), joinNode(shapes)]),
  };
}
