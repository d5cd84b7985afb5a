import { elementCount } from '../onnx/model/element-type.js';
import type { Model } from '../onnx/model/model.js';

/** BatchNormalization's mean and variance, which are not learned. */
const STATISTICS_INPUTS = [3, 4] as const;

const SCALING: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear']);

/** As papers count them: without running statistics and scales of quantized weights, and a tied weight once. */
export function countParameters({ graph }: Model): number {
  const statistics = new Set(
    graph.nodes
      .filter((node) => node.opType === 'BatchNormalization')
      .flatMap((node) => STATISTICS_INPUTS.map((i) => node.inputs[i])),
  );
  const quantized = graph.nodes.filter(({ opType }) => opType === 'MatMulNBits');
  const packed = new Set(quantized.map(({ inputs }) => inputs[1]));
  const scaling = graph.nodes.filter(({ opType }) => SCALING.has(opType));
  const scales = new Set([...quantized.map(({ inputs }) => inputs[2]), ...scaling.map(({ inputs }) => inputs[1])]);
  const counted = new Set<number>();
  let parameters = 0;
  for (const [name, { data, dims }] of graph.initializers) {
    if (data.kind !== 'fill' || statistics.has(name) || scales.has(name) || counted.has(data.fill.seed)) continue;
    counted.add(data.fill.seed);
    parameters += elementCount(dims) * (packed.has(name) ? 2 : 1);
  }
  return parameters;
}
