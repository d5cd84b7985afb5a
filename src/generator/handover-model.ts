import type { Benchmark } from '../measurement/benchmark.js';
import { weightlessBenchmark } from '../measurement/weightless.js';

/** Some milliseconds with weights of 16 MB: as many bytes in its time as networks for images read. */
const ROWS = 128;
const SIZE = 2048;

/** Its load runs show what a query costs besides the model's run. */
export function handoverModel(): Benchmark {
  const type = (...dims: number[]) => ({ elementType: 'float32', dims }) as const;
  return weightlessBenchmark({
    source: 'model of one layer',
    irVersion: 8,
    opsets: new Map([['', 13]]),
    graph: {
      name: 'handover',
      nodes: [{ name: 'product', opType: 'MatMul', domain: '', inputs: ['x', 'w'], outputs: ['y'], attributes: [] }],
      inputs: ['x'],
      outputs: ['y'],
      initializers: new Map([
        ['w', { ...type(SIZE, SIZE), data: { kind: 'fill', fill: { low: -1, high: 1, seed: 1 } } }],
      ]),
      types: new Map([
        ['x', type(ROWS, SIZE)],
        ['y', type(ROWS, SIZE)],
      ]),
    },
  });
}
