import type { Benchmark, BenchmarkInput, TensorType } from '../../../src/plugin-api.js';
import { ANY_OPSET, buildBenchmark, JOINED, joinNode, SHAPE, shapeNodes } from './shapes-only.js';

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
  const leaving = joined ? [JOINED] : outputs;
  const model = {
    source: 'empty call',
    irVersion: packed?.irVersion ?? 10,
    opsets: new Map([['', packed?.opset ?? ANY_OPSET]]),
    graph: {
      name: 'call',
      nodes: joined ? [...nodes, joinNode(outputs)] : nodes,
      initializers: new Map(),
    },
  };
  return buildBenchmark(model, [...made, ...values], new Map(leaving.map((name) => [name, SHAPE])));
}
