import type { Benchmark } from '../measurement/benchmark.js';
import { weightlessBenchmark } from '../measurement/weightless.js';

/** A model that does nothing: its load runs show what a query costs besides the model. */
export function idleModel(): Benchmark {
  const type = { elementType: 'float32', dims: [1] } as const;
  return weightlessBenchmark({
    source: 'model that does nothing',
    irVersion: 8,
    opsets: new Map([['', 13]]),
    graph: {
      name: 'idle',
      nodes: [{ name: 'idle', opType: 'Identity', domain: '', inputs: ['x'], outputs: ['y'], attributes: [] }],
      inputs: ['x'],
      outputs: ['y'],
      initializers: new Map(),
      types: new Map([
        ['x', type],
        ['y', type],
      ]),
    },
  });
}
