import { ELEMENT_TYPES } from '../../../src/onnx/model/element-type.js';
import type { DeclaredType, Dimension, Model, Node } from '../../../src/onnx/model/model.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { int } from '../../../src/onnx/model/make-attributes.js';

/** Measured in a moment, so that a test is about the command and not about the runtime. */
export const QUICK = ['--runs', '3', '--warmup', '1'] as const;

/** At the kernel cut, no brick is measured again in other processes. */
export const ONCE = ['--repeat-limit', '0'] as const;

/** Takes no measurement again, stored or new, on a machine that may be busy. */
export const AS_STORED = ['--remeasure', 'none'] as const;

/** The same for the settings of a manifest, which `evaluate` uses. */
export const MEASURED_ONCE = { repeat_limit: 0, remeasure: 'none' } as const;

/** Makes every layer a brick of its own, for tests that count bricks. */
export const LAYER_CUT = ['--cut', 'layer'] as const;

const FLOATS: readonly Dimension[] = ['batch', 8];

type Graph = Pick<Model['graph'], 'nodes' | 'inputs' | 'outputs' | 'types'> & Partial<Model['graph']>;

function encode(graph: Graph): Uint8Array {
  const opsets = new Map([
    ['', 17],
    ['no.runtime', 1],
  ]);
  const whole = { name: 'tiny', initializers: new Map(), ...graph };
  return encodeModelToBytes({ source: 'tiny', irVersion: 8, opsets, graph: whole });
}

function node(operator: string, inputs: readonly string[], output: string): Node {
  const [opType = '', domain = ''] = operator.split(':').reverse();
  return { name: '', opType, domain, inputs, outputs: [output], attributes: [] };
}

/**
 * x ─► operator ─► operator ─► … ─► y, all float32 of the same shape. An operator of another domain is
 * `domain:Operator`; no runtime has an operator of the domain `no.runtime`.
 *
 * @param dims of every value; by default a batch of 8 numbers each
 */
export function chain(operators: readonly string[], dims: readonly Dimension[] = FLOATS): Uint8Array {
  const nameOf = (index: number): string => (index === 0 ? 'x' : index === operators.length ? 'y' : `v${index}`);
  const nodes = operators.map((operator, index) => node(operator, [nameOf(index)], nameOf(index + 1)));
  const type: DeclaredType = { elementType: 'float32', dims };
  const types = new Map(['x', ...nodes.flatMap(({ outputs }) => outputs)].map((name) => [name, type]));
  return encode({ nodes, inputs: ['x'], outputs: ['y'], types });
}

/** A step of a decoder: it reads one token for each element of the batch, and a cache of the tokens before. */
export function decoderStep(): Uint8Array {
  const nodes = [node('Abs', ['ids'], 'token'), node('Relu', ['cache'], 'kept')];
  const types = new Map<string, DeclaredType>([
    ...['ids', 'token'].map((name) => [name, { elementType: 'int64', dims: ['batch', 1] }] as const),
    ...['cache', 'kept'].map((name) => [name, { elementType: 'float32', dims: ['batch', 'past', 8] }] as const),
  ]);
  return encode({ nodes, inputs: ['ids', 'cache'], outputs: ['token', 'kept'], types });
}

/** A model of five layers. At a granularity of 2, its second brick takes 256 MiB; its inputs and outputs are small. */
export function largeInside(): Uint8Array {
  const nodes = [
    node('Relu', ['x'], 'v1'),
    node('Tanh', ['v1'], 'v2'),
    node('Expand', ['v2', 'shape'], 'large'),
    node('ReduceMax', ['large'], 'v4'),
    node('Abs', ['v4'], 'y'),
  ];
  const rows = 2 ** 23;
  const dims: Readonly<Record<string, readonly Dimension[]>> = { large: [rows, 8], v4: [1, 1], y: [1, 1] };
  const values = ['x', ...nodes.flatMap(({ outputs }) => outputs)];
  const types = new Map(values.map((name) => [name, { elementType: 'float32' as const, dims: dims[name] ?? [1, 8] }]));
  const bytes = new Uint8Array(BigInt64Array.of(BigInt(rows), 8n).buffer);
  const shape = { elementType: 'int64', dims: [2], data: { kind: 'inline', bytes } } as const;
  return encode({ nodes, inputs: ['x'], outputs: ['y'], types, initializers: new Map([['shape', shape]]) });
}

/** Four layers, three of them different. */
export const FOUR_LAYERS = ['Relu', 'Sigmoid', 'Relu', 'Tanh'] as const;

/** Operators whose layers are all different bricks. */
export const MANY_OPERATORS =
  'Relu Sigmoid Tanh Exp Abs Neg Softplus Softsign Elu Selu LeakyRelu HardSigmoid Sin Cos Atan Floor Ceil Erf Sign Round'.split(
    ' ',
  );

/** The manifest of an evaluation of net.onnx whose layers are each measured in a session of their own. JSON is YAML. */
export const TINY_EVALUATION = {
  dlspec: 'evaluation/v1',
  name: 'tiny',
  version: '1.0.0',
  models: ['net.onnx'],
  // Tests that run at the same time disturb these measurements.
  settings: { cut: 'layer', remeasure: 'none' },
  protocol: { warmup_runs: 1, runs: 5, min_runs: 5 },
} as const;

/** The same evaluation of {@link MANY_OPERATORS} in many.onnx. */
export const MANY_BRICKS = { ...TINY_EVALUATION, name: 'many', models: ['many.onnx'] } as const;

/**
 * Every layer runs by itself, but the whole model does not: three exponentials of inputs from -1 up make an index of at
 * least 4, and there are 3 rows.
 */
export function failsOnlyAsAWhole(): Uint8Array {
  const float = (dims: readonly Dimension[]): DeclaredType => ({ elementType: 'float32', dims });
  const operators = ['Exp', 'Exp', 'Exp'];
  const nodes = [
    ...operators.map((operator, index) => node(operator, [`x${index}`], `x${index + 1}`)),
    { ...node('Cast', ['x3'], 'index'), attributes: [int('to', ELEMENT_TYPES.int64.code)] },
    node('Gather', ['rows', 'index'], 'y'),
  ];
  const types = new Map<string, DeclaredType>([
    ...['x0', 'x1', 'x2', 'x3'].map((name) => [name, float(FLOATS)] as const),
    ['index', { elementType: 'int64', dims: FLOATS }],
    ['rows', float([3])],
    ['y', float(FLOATS)],
  ]);
  return encode({ nodes, inputs: ['x0', 'rows'], outputs: ['y'], types });
}
