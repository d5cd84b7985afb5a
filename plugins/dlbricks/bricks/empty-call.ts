import type { Benchmark, BenchmarkInput, DeclaredType, Model, TensorType } from '../../../src/plugin-api.js';
import { ANY_OPSET, buildBenchmark, JOINED, joinNode, shapeNodes } from './shapes-only.js';

export interface EmptyCall {
  readonly inputs: number;
  readonly outputs: number;
}

/** They are cast before their shapes are taken. */
export interface PackedValues {
  readonly types: readonly TensorType[];
  /** Has these types. */
  readonly irVersion: number;
  readonly opset: number;
}

/** @param joined whether shapes leave as one output, or each as its own */
export function emptyCall(
  inputs: number,
  shapes: number,
  { joined, packed }: { readonly joined: boolean; readonly packed?: PackedValues | undefined },
): Benchmark {
  const type = { elementType: 'float32', dims: [1] } as const;
  const made = Array.from({ length: Math.max(1, inputs) }, (_, index): BenchmarkInput => {
    return { name: `x${index}`, role: 'activation', ...type, fill: { low: -1, high: 1, seed: index + 1 } };
  });
  const values = (packed?.types ?? []).map((packedType, index): BenchmarkInput => {
    return { name: `packed${index}`, role: 'weight', ...packedType, fill: { low: 0, high: 1, seed: index + 1 } };
  });
  const outputs = Array.from({ length: shapes }, (_, index) => `shape${index}`);
  const nodes = outputs.flatMap((output, index) => {
    const value = values[index] ?? made[index % made.length];
    return value === undefined ? [] : shapeNodes(value.name, output, value.elementType);
  });
  const outputType = { elementType: 'int64', dims: undefined } as const;
  const leaving = joined ? [JOINED] : outputs;
  const model: Model = {
    source: 'empty call',
    irVersion: packed?.irVersion ?? 10,
    opsets: new Map([['', packed?.opset ?? ANY_OPSET]]),
    graph: {
      name: 'call',
      nodes: joined ? [...nodes, joinNode(outputs)] : nodes,
      inputs: [...made, ...values].map(({ name }) => name),
      outputs: leaving,
      initializers: new Map(),
      types: new Map<string, DeclaredType>([
        ...made.map(({ name }) => [name, type] as const),
        ...values.map(({ name, elementType, dims }) => [name, { elementType, dims }] as const),
        ...leaving.map((name) => [name, outputType] as const),
      ]),
    },
  };
  return buildBenchmark(model, [...made, ...values]);
}
