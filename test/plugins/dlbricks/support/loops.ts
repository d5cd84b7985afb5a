import { floats, graph, graphAttribute, int, integers, model, node, tensor, value } from '../../../onnx/protos.js';

const WIDTH = 32;

const ones = (name: string, dims: number[]) => {
  return floats(name, new Array<number>(dims.reduce((product, dim) => product * dim, 1)).fill(0.01), dims);
};

/** Four kernels of some microseconds. */
const cell = (input: string, state: string, output: string) => [
  node('MatMul', [state, 'recurrent'], ['h']),
  node('Add', ['h', input], ['sum']),
  node('Tanh', ['sum'], ['t']),
  node('Mul', ['t', 'gain'], [output]),
];

/** A layer of its own, so that not all of the model is in the loop. */
const before = [node('MatMul', ['x', 'w'], ['xs'])];
const initializers = [ones('w', [WIDTH, WIDTH]), ones('recurrent', [WIDTH, WIDTH]), ones('gain', [1, WIDTH])];

/** A recurrent cell in a Scan over a sequence of this length, as exporters write recurrent layers. */
export function recurrentScan(steps: number): Uint8Array {
  const body = graph({
    input: [value('state', [1, WIDTH]), value('step', [1, WIDTH])],
    node: [...cell('step', 'state', 'next'), node('Identity', ['next'], ['out'])],
    output: [value('next', [1, WIDTH]), value('out', [1, WIDTH])],
  });
  return model({
    input: [value('x', [steps, 1, WIDTH])],
    node: [
      ...before,
      node('Scan', ['start', 'xs'], ['last', 'y'], [int('num_scan_inputs', 1), graphAttribute('body', body)]),
    ],
    initializer: [...initializers, ones('start', [1, WIDTH])],
    output: [value('y', [steps, 1, WIDTH])],
    valueInfo: [value('xs', [steps, 1, WIDTH]), value('last', [1, WIDTH])],
  });
}

/** The same cell in a Loop, which takes its step of the sequence by Gather, as TensorFlow's exporter writes it. */
export function recurrentLoop(steps: number): Uint8Array {
  const body = graph({
    input: [value('i', [], 'int64'), value('on', [], 'bool'), value('state', [1, WIDTH])],
    node: [
      node('Gather', ['xs', 'i'], ['step'], [int('axis', 0)]),
      ...cell('step', 'state', 'next'),
      node('Identity', ['on'], ['still_on']),
      node('Identity', ['next'], ['out']),
    ],
    output: [value('still_on', [], 'bool'), value('next', [1, WIDTH]), value('out', [1, WIDTH])],
  });
  return model({
    input: [value('x', [steps, 1, WIDTH])],
    node: [...before, node('Loop', ['trips', 'goes_on', 'start'], ['last', 'y'], [graphAttribute('body', body)])],
    initializer: [
      ...initializers,
      ones('start', [1, WIDTH]),
      { ...integers('trips', [BigInt(steps)]), dims: [] },
      tensor('goes_on', 'bool', [], { rawData: Uint8Array.of(1) }),
    ],
    output: [value('y', [steps, 1, WIDTH])],
    valueInfo: [value('xs', [steps, 1, WIDTH]), value('last', [1, WIDTH])],
  });
}
