import type { Benchmark } from '../measurement/benchmark.js';
import { weightlessBenchmark } from '../measurement/weightless.js';
import { standardNode } from '../onnx/model/standard-node.js';

/** Columns of the input; its rows say how long a run takes. */
const COLUMNS = 1024;

/** A model of one layer that stands in for another one: it reads as many bytes of weights, and can take as long. */
export function standInModel(weightBytes: number, rows: number): Benchmark {
  const type = (...dims: number[]) => ({ elementType: 'float32', dims }) as const;
  const outputs = Math.max(1, Math.round(weightBytes / COLUMNS / Float32Array.BYTES_PER_ELEMENT));
  return weightlessBenchmark({
    source: 'model of one layer',
    irVersion: 8,
    opsets: new Map([['', 13]]),
    graph: {
      name: 'stand-in',
      nodes: [
        standardNode('product', 'MatMul', ['x', 'w'], ['y']),
        // A large output would be copied.
        standardNode('most', 'ReduceMax', ['y'], ['z']),
      ],
      inputs: ['x'],
      outputs: ['z'],
      initializers: new Map([
        ['w', { ...type(COLUMNS, outputs), data: { kind: 'fill', fill: { low: -1, high: 1, seed: 1 } } }],
      ]),
      types: new Map([
        ['x', type(rows, COLUMNS)],
        ['y', type(rows, outputs)],
        ['z', type(1, 1)],
      ]),
    },
  });
}
