import fc from '../../../support/property.js';
import { hoistSubgraphWeights } from '../../../../src/onnx/layers/hoist-subgraph-weights.js';
import { type InferredValue, type LayerGraph, layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Model } from '../../../../src/onnx/model/model.js';
import { TensorProto } from '../../../../src/generated/onnx/onnx.js';
import { graph, graphAttribute, int, ints, node, value } from '../../../onnx/protos.js';
import { floatTensor, GraphBuilder, int64Tensor } from './graph-builder.js';

/** One decision. Its numbers are taken modulo the number of choices, so that every list of steps gives a model. */
interface Step {
  readonly operator: number;
  readonly first: number;
  readonly second: number;
  readonly size: number;
}

/**
 * A model that a runtime accepts, and the values that it would infer, as far as their content may steer an operator.
 */
export interface GeneratedModel {
  readonly model: Model;
  readonly inferred: ReadonlyMap<string, InferredValue>;
}

export function layerGraphOf({ model, inferred }: GeneratedModel): LayerGraph {
  return layerGraph(hoistSubgraphWeights(model), inferred);
}

/** No value has more channels, so that graphs stay small even with many concatenations. */
const MAX_CHANNELS = 24;

/** No value with more pixels is enlarged. */
const MAX_PIXELS = 64;

type Shape = readonly [batch: number, channels: number, height: number, width: number];

class RandomGraph extends GraphBuilder {
  /** Images: [1, channels, height, width]. */
  readonly images: string[] = [];
  flag: string | undefined;

  shapeOf(name: string): Shape {
    const [batch = 1, channels = 1, height = 1, width = 1] = this.dimsOf(name);
    return [batch, channels, height, width];
  }

  /** One of the values so far, mostly one of the newest three. */
  pick(choice: number): string {
    const reach = choice % 4 === 0 ? this.images.length : Math.min(3, this.images.length);
    return this.images[this.images.length - 1 - (choice % reach)] ?? '';
  }

  /** One of the values whose shape fits. At least one must fit. */
  pickLike(fits: (shape: Shape) => boolean, choice: number): string {
    const candidates = this.images.filter((name) => fits(this.shapeOf(name)));
    return candidates[choice % candidates.length] ?? '';
  }

  add(...names: readonly string[]): void {
    this.images.push(...names);
  }
}

function shapeChain(g: RandomGraph, x: string): string {
  const shape = g.shapeOf(x);
  const [batch, channels, height, width] = shape;
  const asList = { dims: [1] };
  const whole = g.integers('Shape', [x], shape);
  const one = g.integers('Gather', [whole, g.constant(int64Tensor([1], []))], [channels], { dims: [] });
  const list = g.integers('Unsqueeze', [one, g.constant(int64Tensor([0]))], [channels], asList);
  const pieces = [g.constant(int64Tensor([batch])), list, g.constant(int64Tensor([-1, 1]))];
  const target = g.integers('Concat', pieces, [batch, channels, -1, 1], { attributes: [int('axis', 0)] });
  return g.layer('Reshape', [x, target], [batch, channels, height * width, 1]);
}

/** Enlarges by a factor of 1.5, as older exporters write it: with sizes computed in floats. */
function enlargement(g: RandomGraph, x: string): string {
  const shape = g.shapeOf(x);
  const [batch, channels, height, width] = shape;
  if (height * width > MAX_PIXELS) return g.layer('Tanh', [x], shape);
  const list = (...values: number[]): string => g.constant(int64Tensor(values));
  const floats = (opType: string, inputs: string[], content: number[], attributes = [int('to', 1)]): string =>
    g.layers(opType, inputs, [{ elementType: 'float32', dims: [2], content }], attributes)[0] ?? '';
  const whole = g.integers('Shape', [x], shape);
  const sides = g.integers('Slice', [whole, list(2), list(4)], [height, width]);
  const asFloats = floats('Cast', [sides], [height, width]);
  const scaled = floats('Mul', [asFloats, g.constant(floatTensor([1.5], []))], [1.5 * height, 1.5 * width], []);
  const larger = [Math.floor(1.5 * height), Math.floor(1.5 * width)];
  const rounded = floats('Floor', [scaled], larger, []);
  const back = g.integers('Cast', [rounded], larger, { attributes: [int('to', 7)] });
  const ends = g.integers('Slice', [whole, list(0), list(2)], [batch, channels]);
  const dims = [batch, channels, ...larger];
  const sizes = g.integers('Concat', [ends, back], dims, { attributes: [int('axis', 0)] });
  return g.layer('Resize', [x, '', '', sizes], dims);
}

/** Two branches, of which a caller's flag chooses one. The second branch has a weight of its own. */
function conditional(g: RandomGraph, x: string): string {
  g.flag ??= g.input('bool', []);
  const dims = g.shapeOf(x);
  const branchOutput = g.freshName('inner');
  const weight = g.freshName('inner');
  const [, channels] = dims;
  const tensor = floatTensor(
    Array.from({ length: channels }, (_, i) => 0.3 + 0.0137 * i),
    [1, channels, 1, 1],
  );
  const rawData = tensor.data.kind === 'inline' ? tensor.data.bytes : new Uint8Array();
  const initializer = [{ ...TensorProto.create(), name: weight, dims: tensor.dims.map(BigInt), dataType: 1, rawData }];
  const name = g.freshName('inner');
  const output = [value(branchOutput, dims)];
  const whenTrue = graph({ name, node: [node('Relu', [x], [branchOutput])], output });
  const whenFalse = graph({ name, node: [node('Mul', [x, weight], [branchOutput])], output, initializer });
  const branches = [graphAttribute('then_branch', whenTrue), graphAttribute('else_branch', whenFalse)];
  return g.layer('If', [g.flag], dims, branches);
}

function convolution(g: RandomGraph, x: string, { second, size }: Step): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  const made = 1 + (second % 6);
  const kernel = size % 3 === 2 ? 3 : 1;
  const inputs = [x, g.weight([made, channels, kernel, kernel], channels * kernel ** 2)];
  if (size % 2 === 1) inputs.push(g.weight([made], 6));
  return g.layer('Conv', inputs, [batch, made, height, width], kernel === 3 ? [ints('pads', [1, 1, 1, 1])] : []);
}

/** A convolution whose weight is computed from another weight, so that no layer makes it. */
function computedWeight(g: RandomGraph, x: string, { second }: Step): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  const made = 1 + (second % 4);
  const stored = g.weight([channels, made, 1, 1], channels);
  const weight = g.layer('Transpose', [stored], [made, channels, 1, 1], [ints('perm', [1, 0, 2, 3])]);
  return g.layer('Conv', [x, weight], [batch, made, height, width]);
}

function normalization(g: RandomGraph, x: string): string {
  const [, channels] = g.shapeOf(x);
  const scale = g.positive([channels]);
  const inputs = [x, scale, g.weight([channels], 6), g.weight([channels], 6), g.positive([channels])];
  return g.layer('BatchNormalization', inputs, g.shapeOf(x));
}

function concatenation(g: RandomGraph, x: string, { second }: Step): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  const other = g.pickLike((shape) => shape[2] === height && shape[3] === width, second);
  const sum = channels + g.shapeOf(other)[1];
  if (sum > MAX_CHANNELS) return g.layer('Sigmoid', [x], g.shapeOf(x));
  return g.layer('Concat', [x, other], [batch, sum, height, width], [int('axis', 1)]);
}

function split(g: RandomGraph, x: string): readonly string[] {
  const [batch, channels, height, width] = g.shapeOf(x);
  if (channels < 2) return [g.layer('Neg', [x], g.shapeOf(x))];
  const sizes = channels < 3 ? [1, 1] : [1, 1, channels - 2];
  const made = sizes.map((size) => ({ elementType: 'float32' as const, dims: [batch, size, height, width] }));
  return g.layers('Split', [x, g.constant(int64Tensor(sizes))], made, [int('axis', 1)]);
}

function pooling(g: RandomGraph, x: string): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  if (height < 2 || width < 2) return g.layer('GlobalAveragePool', [x], [batch, channels, 1, 1]);
  const dims = [batch, channels, Math.floor(height / 2), Math.floor(width / 2)];
  return g.layer('MaxPool', [x], dims, [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])]);
}

/** Reshapes to a constant shape, which is one constant or a concatenation of two. */
function reshape(g: RandomGraph, x: string, { size }: Step): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  const dims = [batch, channels, 1, height * width];
  if (size % 2 === 0) return g.layer('Reshape', [x, g.constant(int64Tensor(dims))], dims);
  const halves = [dims.slice(0, 2), dims.slice(2)].map((half) => g.constant(int64Tensor(half)));
  const shape = g.integers('Concat', halves, dims, { attributes: [int('axis', 0)] });
  return g.layer('Reshape', [x, shape], dims);
}

function product(g: RandomGraph, x: string, { second }: Step): string {
  const [batch, channels, height, width] = g.shapeOf(x);
  const made = 1 + (second % 5);
  return g.layer('MatMul', [x, g.weight([width, made], width)], [batch, channels, height, made]);
}

/** Adds layers that read x. @returns what the next ones may read */
type Operator = (g: RandomGraph, x: string, step: Step) => string | readonly string[];

const OPERATORS: readonly Operator[] = [
  convolution,
  (g, x) => g.layer('Relu', [x], g.shapeOf(x)),
  (g, x, { second }) => {
    const dims = g.shapeOf(x);
    const same = g.pickLike((shape) => shape.every((size, i) => size === dims[i]), second);
    return g.layer('Add', [x, same], dims);
  },
  concatenation,
  normalization,
  pooling,
  split,
  shapeChain,
  enlargement,
  reshape,
  computedWeight,
  (g, x) => {
    const bounds = [-0.77, 0.83].map((bound) => g.constant(floatTensor([bound], [])));
    return g.layer('Clip', [x, ...bounds], g.shapeOf(x));
  },
  (g, x) => {
    const [batch, channels] = g.shapeOf(x);
    return g.layer('GlobalAveragePool', [x], [batch, channels, 1, 1]);
  },
  product,
  (g, x, { size }) => {
    const factor = size % 2 === 0 ? 0.5 : 0.7123;
    return g.layer('Mul', [x, g.constant(floatTensor([factor], []))], g.shapeOf(x));
  },
  conditional,
];

function generate(steps: readonly Step[], inputs: number, exposed: number | null): GeneratedModel {
  const g = new RandomGraph();
  for (let i = 0; i < inputs; i++) g.add(g.input('float32', [1, 2 + i, 4, 4]));
  for (const step of steps) {
    const made = (OPERATORS[step.operator % OPERATORS.length] as Operator)(g, g.pick(step.first), step);
    g.add(...(typeof made === 'string' ? [made] : made));
  }
  const outputs = new Set(g.ends());
  const own = g.images.slice(inputs);
  if (exposed !== null) outputs.add(own[exposed % own.length] ?? '');
  return { model: g.model([...outputs]), inferred: g.inferred };
}

const choice = fc.nat({ max: 1000 });
const step: fc.Arbitrary<Step> = fc.record({ operator: choice, first: choice, second: choice, size: choice });

/** Random models, always valid and runnable, with the type of every value; each layer leads to an output. */
export function generatedModels({ maxSteps = 14 } = {}): fc.Arbitrary<GeneratedModel> {
  return fc
    .tuple(
      fc.array(step, { minLength: 1, maxLength: maxSteps }),
      fc.integer({ min: 1, max: 2 }),
      fc.option(choice, { freq: 2 }),
    )
    .map(([steps, inputs, exposed]) => generate(steps, inputs, exposed));
}
