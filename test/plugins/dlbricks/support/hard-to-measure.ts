import { floats, int, ints, model, node, value } from '../../../onnx/protos.js';

// Graphs of the kinds whose estimates were wrong.

/** Numbers from -scale to scale. */
function numbers(count: number, scale: number): number[] {
  return Array.from({ length: count }, (_, at) => scale * Math.sin(7 * at + 1));
}

const ROWS = 64;
const STATES = 16;

/** A chain of small kernels, five for each step: a state of the kind that Mamba's exports have for each token. */
export function tinyKernels(steps: number): Uint8Array {
  const step = (at: number) => [
    node('Mul', [`state${at}`, 'decay'], [`kept${at}`]),
    node('Add', [`kept${at}`, 'input'], [`sum${at}`]),
    node('MatMul', [`sum${at}`, 'out'], [`read${at}`]),
    node('Sigmoid', [`read${at}`], [`gate${at}`]),
    node('Mul', [`sum${at}`, `gate${at}`], [`state${at + 1}`]),
  ];
  const shape = [ROWS, STATES];
  return model({
    input: [value('state0', shape)],
    node: Array.from({ length: steps }, (_, at) => step(at)).flat(),
    initializer: [
      floats('decay', numbers(ROWS * STATES, 0.9), shape),
      floats('input', numbers(ROWS * STATES, 1), shape),
      floats('out', numbers(STATES, 0.25), [STATES, 1]),
    ],
    output: [value(`state${steps}`, shape)],
  });
}

const WIDTH = 1024;
const TOKENS = 16;

/** Large matrix products, which mostly read their weights, with a residual after each two. */
export function tower(layers: number): Uint8Array {
  const shape = [TOKENS, WIDTH];
  const layer = (at: number) => [
    node('MatMul', [`x${at}`, `up${at}`], [`h${at}`]),
    node('Relu', [`h${at}`], [`r${at}`]),
    node('MatMul', [`r${at}`, `down${at}`], [`y${at}`]),
    node('Add', [`y${at}`, `x${at}`], [`x${at + 1}`]),
  ];
  const scale = 1 / Math.sqrt(WIDTH);
  const weights = (at: number) => [
    floats(`up${at}`, numbers(2 * WIDTH * WIDTH, scale), [WIDTH, 2 * WIDTH]),
    floats(`down${at}`, numbers(2 * WIDTH * WIDTH, scale), [2 * WIDTH, WIDTH]),
  ];
  const all = Array.from({ length: layers }, (_, at) => at);
  return model({
    input: [value('x0', shape)],
    node: all.flatMap(layer),
    initializer: all.flatMap(weights),
    output: [value(`x${layers}`, shape)],
  });
}

const HEADS = 8;
const LENGTH = 128;
const HEAD_WIDTH = 32;

const isOdd = (at: number): boolean => at % 2 === 1;

/** Whether a position comes after the one that reads it. */
export const isLater = (at: number): boolean => at % LENGTH > Math.floor(at / LENGTH);

/** Attention whose mask hides positions by a large negative number, as exporters write it; by default each second. */
export function maskedAttention(layers: number, hiddenBy: number, isHidden = isOdd): Uint8Array {
  const shape = [1, HEADS, LENGTH, HEAD_WIDTH];
  const mask = Array.from({ length: LENGTH * LENGTH }, (_, at) => (isHidden(at) ? hiddenBy : 0));
  const layer = (at: number) => [
    node('Transpose', [`x${at}`], [`key${at}`], [ints('perm', [0, 1, 3, 2])]),
    node('MatMul', [`x${at}`, `key${at}`], [`all${at}`]),
    node('Add', [`all${at}`, 'mask'], [`scores${at}`]),
    node('Softmax', [`scores${at}`], [`shares${at}`], [int('axis', -1)]),
    node('MatMul', [`shares${at}`, `x${at}`], [`x${at + 1}`]),
  ];
  return model({
    input: [value('x0', shape)],
    node: Array.from({ length: layers }, (_, at) => layer(at)).flat(),
    initializer: [floats('mask', mask, [1, 1, LENGTH, LENGTH])],
    output: [value(`x${layers}`, shape)],
    valueInfo: Array.from({ length: layers }, (_, at) => [
      value(`x${at + 1}`, shape),
      value(`key${at}`, [1, HEADS, HEAD_WIDTH, LENGTH]),
      ...['all', 'scores', 'shares'].map((name) => value(`${name}${at}`, [1, HEADS, LENGTH, LENGTH])),
    ]).flat(),
  });
}
