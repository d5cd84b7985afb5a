import { createHash } from 'node:crypto';
import { AttributeProto, AttributeProto_AttributeType } from '../../../src/generated/onnx/onnx.js';
import type { Benchmark, BenchmarkInput } from '../../../src/measurement/benchmark.js';
import type { Setup } from './measure-one.js';
import type { RunOptions } from '../../../src/measurement/system.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import type { DeclaredType, Node, Tensor } from '../../../src/onnx/model/model.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';

export interface TinyInput {
  readonly role?: BenchmarkInput['role'];
  readonly elementType?: ElementType;
  readonly dims: readonly number[];
}

export interface TinyGraph {
  readonly inputs: Readonly<Record<string, TinyInput>>;
  readonly nodes: readonly Partial<Node>[];
  readonly outputs: readonly string[];
  readonly constants?: Readonly<Record<string, Tensor>> | undefined;
}

/** The bytes of an ONNX file. @param types of its inputs */
export function encodeTinyGraph(
  { nodes, outputs, constants = {} }: Omit<TinyGraph, 'inputs'>,
  types: ReadonlyMap<string, DeclaredType>,
): Uint8Array {
  return encodeModelToBytes({
    source: 'test',
    irVersion: 8,
    opsets: new Map([['', 17]]),
    graph: {
      name: 'test',
      nodes: nodes.map((node, i) => {
        return { name: `node${i}`, opType: '', domain: '', inputs: [], outputs: [], attributes: [], ...node };
      }),
      inputs: [...types.keys()],
      outputs,
      initializers: new Map(Object.entries(constants)),
      types,
    },
  });
}

/** A benchmark of a hand-written graph, its inputs filled from [-1, 1] (or [0, 1] for integers). */
export function benchmarkOf({ inputs, nodes, outputs, constants }: TinyGraph): Benchmark {
  const filled = Object.entries(inputs).map(([name, input], index): BenchmarkInput => {
    const { role = 'activation', elementType = 'float32', dims } = input;
    const low = elementType.startsWith('float') ? -1 : 0;
    return { name, role, elementType, dims, fill: { low, high: 1, seed: index + 1 } };
  });
  const types = filled.map(({ name, elementType, dims }) => [name, { elementType, dims }] as const);
  const model = encodeTinyGraph({ nodes, outputs, constants }, new Map(types));
  return { signature: createHash('sha256').update(model).digest('hex'), model, inputs: filled };
}

export function int64Constant(dims: readonly number[], values: readonly number[]): Tensor {
  const bytes = new Uint8Array(new BigInt64Array(values.map(BigInt)).buffer);
  return { elementType: 'int64', dims, data: { kind: 'inline', bytes } };
}

export function intAttribute(name: string, value: number): AttributeProto {
  return { ...AttributeProto.create(), name, type: AttributeProto_AttributeType.INT, i: BigInt(value) };
}

/** y = relu(x), 24 elements. */
export const relu = benchmarkOf({
  inputs: { x: { dims: [2, 3, 4] } },
  nodes: [{ opType: 'Relu', inputs: ['x'], outputs: ['y'] }],
  outputs: ['y'],
});

/** y = x w, with a weight of 8 by 5. */
export const matMul = benchmarkOf({
  inputs: { x: { dims: [1, 8] }, w: { dims: [8, 5], role: 'weight' } },
  nodes: [{ opType: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  outputs: ['y'],
});

/** A 3x3 convolution of 4 to 6 channels with bias. */
export const convolution = benchmarkOf({
  inputs: { x: { dims: [1, 4, 9, 9] }, w: { dims: [6, 4, 3, 3], role: 'weight' }, b: { dims: [6], role: 'weight' } },
  nodes: [{ opType: 'Conv', inputs: ['x', 'w', 'b'], outputs: ['y'] }],
  outputs: ['y'],
});

/** An operator that no runtime has. */
export const unknownOperator = benchmarkOf({
  inputs: { x: { dims: [2] } },
  nodes: [{ opType: 'NoSuchOperator', inputs: ['x'], outputs: ['y'] }],
  outputs: ['y'],
});

/** The runtime accepts this graph: only the values of the input show that the Reshape cannot work. */
export const failingReshape = benchmarkOf({
  inputs: { x: { dims: [2, 3] }, shape: { dims: [2], elementType: 'int64' } },
  nodes: [
    { opType: 'Add', inputs: ['shape', 'five'], outputs: ['impossible'] },
    { name: 'the_reshape', opType: 'Reshape', inputs: ['x', 'impossible'], outputs: ['y'] },
  ],
  outputs: ['y'],
  constants: { five: int64Constant([1], [5]) },
});

/** One run takes half a minute on one thread: 100 products of 2048 by 2048 matrices. */
export const endless = benchmarkOf({
  inputs: { x: { dims: [2048, 2048] }, w: { dims: [2048, 2048], role: 'weight' } },
  nodes: Array.from({ length: 100 }, (_, i) => {
    return { opType: 'MatMul', inputs: [i === 0 ? 'x' : `y${i}`, 'w'], outputs: [`y${i + 1}`] };
  }),
  outputs: ['y100'],
});

export const runOptions: RunOptions = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' };

export const protocol: Setup = {
  warmupRuns: 2,
  runs: 5,
  minRuns: 2,
  timeBudgetMs: 10_000,
  occasion: 1,
  timeLimitMs: 60_000,
  memoryLimitBytes: 4e9,
};

/** Runs until it is stopped. */
export const longProtocol: Setup = { ...protocol, runs: 1_000_000, timeBudgetMs: 600_000, timeLimitMs: 600_000 };
