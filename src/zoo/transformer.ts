import { ELEMENT_TYPES } from '../onnx/model/element-type.js';
import { float, int } from '../onnx/model/make-attributes.js';
import { fixed, type Value } from './builder.js';
import { bias, scale, weight } from './initialization.js';
import {
  add,
  chain,
  div,
  erf,
  type Layer,
  matMul,
  mul,
  pow,
  reshape,
  sigmoid,
  softmax,
  sub,
  tanh,
  transpose,
  unsqueeze,
} from './tensor.js';

export interface TransformerSize {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
}

const FLOAT32 = ELEMENT_TYPES.float32.code;
const MIN_FLOAT32 = -3.4028234663852886e38;

export function project(features: number): Layer {
  return (x) => {
    const inputs = fixed(x, -1);
    return matMul(x, weight(x.graph, [inputs, features], inputs));
  };
}

export function dense(features: number): Layer {
  return (x) => {
    const product = project(features)(x);
    return add(bias(x.graph, features), product);
  };
}

export function layerNorm(epsilon: number): Layer {
  return (x) => {
    const size = fixed(x, -1);
    const inputs = [x, scale(x.graph, size), bias(x.graph, size)];
    return x.graph.apply('LayerNormalization', inputs, x, [int('axis', -1), float('epsilon', epsilon)]);
  };
}

/** Below opset 20. Source: Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415, section 2. */
export const gelu: Layer = (x) => {
  const { graph } = x;
  const twice = add(erf(div(x, graph.scalar('sqrt2', Math.SQRT2))), graph.scalar('one', 1));
  return mul(mul(x, twice), graph.scalar('half', 0.5));
};

/** The approximation that CLIP uses. Source: the same, section 2. */
export const quickGelu: Layer = (x) => mul(x, sigmoid(mul(x, x.graph.scalar('slope', 1.702))));

export const geluTanh: Layer = (x) => {
  const { graph } = x;
  const half = mul(x, graph.scalar('half', 0.5));
  const cubic = mul(pow(x, graph.scalar('three', 3)), graph.scalar('cubic', 0.044715));
  const inner = mul(add(x, cubic), graph.scalar('sqrt2overpi', Math.sqrt(2 / Math.PI)));
  return mul(half, add(tanh(inner), graph.scalar('one', 1)));
};

/** [batch, sequence, hidden] as [batch, head, sequence, hidden / heads]. */
export function splitHeads(x: Value, heads: number, perm = [0, 2, 1, 3]): Value {
  return transpose(reshape(x, [0, 0, heads, fixed(x, -1) / heads]), perm);
}

/** [batch, sequence, hidden] as [batch, head, hidden / heads, sequence]. */
export function splitKeyHeads(x: Value, heads: number): Value {
  return splitHeads(x, heads, [0, 2, 3, 1]);
}

export const mergeHeads: Layer = (x) => {
  const hidden = fixed(x, 1) * fixed(x, 3);
  return reshape(transpose(x, [0, 2, 1, 3]), [0, 0, hidden]);
};

export const maskAsFloat: Layer = (mask) =>
  mask.graph.apply('Cast', [mask], { elementType: 'float32', dims: mask.dims }, [int('to', FLOAT32)]);

/** 0 where `visible` is 1, and so low where it is 0 that the softmax becomes 0. */
export const hideOthers: Layer = (visible) => {
  const { graph } = visible;
  return mul(sub(graph.scalar('one', 1), visible), graph.scalar('lowest', MIN_FLOAT32));
};

export function causalBias(mask: Value): Value {
  const visible = maskAsFloat(mask);
  const pairs = mul(unsqueeze(visible, [1, 3]), unsqueeze(visible, [1, 2]));
  return hideOthers(mask.graph.apply('Trilu', [pairs], pairs, [int('upper', 0)]));
}

/** A layer of normalized values beside a shortcut. */
export function prenormed(norm: Layer, ...layers: readonly Layer[]): Layer {
  return (x) => add(x, chain(norm, ...layers)(x));
}

interface AttentionOptions {
  readonly heads: number;
  readonly bias?: Value | undefined;
  /** Keys and values, if not the input of the queries. */
  readonly context?: Value | undefined;
  /** By default with biases. */
  readonly projections?: readonly [query: Layer, key: Layer, value: Layer, output: Layer];
  /** By default 1/√d of a head. */
  readonly scale?: number | undefined;
}

/** Source: Vaswani et al., Attention Is All You Need, arXiv:1706.03762, section 3.2. */
export function attention({ heads, bias, context, projections, scale }: AttentionOptions): Layer {
  return (x) => {
    const hidden = fixed(x, -1);
    const same = dense(hidden);
    const [toQuery, toKey, toValue, toOutput] = projections ?? [same, same, same, same];
    const read = context ?? x;
    const product = matMul(splitHeads(toQuery(x), heads), splitKeyHeads(toKey(read), heads));
    const factor = scale ?? (heads / hidden) ** 0.5;
    const scaled = factor === 1 ? product : mul(product, x.graph.scalar('scale', factor));
    const scores = bias === undefined ? scaled : add(scaled, bias);
    return toOutput(mergeHeads(matMul(softmax(scores), splitHeads(toValue(read), heads))));
  };
}
