import type { Benchmark, BenchmarkInput, DeclaredType, Model } from '../../../src/plugin-api.js';
import { ANY_OPSET, benchmarkOf, JOINED, joinNode, shapeNode } from './shapes-only.js';

/** How many inputs and outputs an empty call has. */
export interface EmptyCall {
  readonly inputs: number;
  readonly outputs: number;
}

/**
 * A call that does nothing: `inputs` tiny inputs, `shapes` Shape nodes. They leave as one output, or each as its own.
 */
export function emptyCall(inputs: number, shapes: number, { joined }: { readonly joined: boolean }): Benchmark {
  const type = { elementType: 'float32', dims: [1] } as const;
  const made = Array.from({ length: Math.max(1, inputs) }, (_, index): BenchmarkInput => {
    return { name: `x${index}`, role: 'activation', ...type, fill: { low: -1, high: 1, seed: index + 1 } };
  });
  const outputs = Array.from({ length: shapes }, (_, index) => `shape${index}`);
  const nodes = outputs.map((output, index) => shapeNode(made[index % made.length]?.name ?? '', output));
  const outputType = { elementType: 'int64', dims: undefined } as const;
  const leaving = joined ? [JOINED] : outputs;
  const model: Model = {
    source: 'empty call',
    irVersion: 10,
    opsets: new Map([['', ANY_OPSET]]),
    graph: {
      name: 'call',
      nodes: joined ? [...nodes, joinNode(outputs)] : nodes,
      inputs: made.map(({ name }) => name),
      outputs: leaving,
      initializers: new Map(),
      types: new Map<string, DeclaredType>([
        ...made.map(({ name }) => [name, type] as const),
        ...leaving.map((name) => [name, outputType] as const),
      ]),
    },
  };
  return benchmarkOf(model, made);
}
