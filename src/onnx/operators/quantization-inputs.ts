import type { Node } from '../model/model.js';
import { tableOfNames } from '../../base/table-of-names.js';

export interface QuantizationInputs {
  readonly scales: readonly number[];
  readonly zeroPoints: readonly number[];
}

/** The same in all domains. Sources: Operators.md of ONNX, ContribOperators.md of ONNX Runtime. */
const INPUTS = tableOfNames<QuantizationInputs>({
  'ConvInteger MatMulInteger': { scales: [], zeroPoints: [2, 3] },
  'DequantizeLinear QuantizeLinear': { scales: [1], zeroPoints: [2] },
  DynamicQuantizeLSTM: { scales: [8, 10], zeroPoints: [9, 11] },
  DynamicQuantizeMatMul: { scales: [2], zeroPoints: [3] },
  'GatherBlockQuantized MatMulBnb4 MatMulNBits': { scales: [2], zeroPoints: [] },
  MatMulIntegerToFloat: { scales: [2, 3], zeroPoints: [4, 5] },
  QAttention: { scales: [3, 4], zeroPoints: [6, 7] },
  QEmbedLayerNormalization: { scales: [8, 9, 10, 11, 12], zeroPoints: [13, 14, 15, 16, 17] },
  QGemm: { scales: [1, 4, 7], zeroPoints: [2, 5, 8] },
  // Operators of two quantized inputs: A, A_scale, A_zero_point, B, B_scale, B_zero_point, Y_scale, Y_zero_point.
  'QLinearAdd QLinearConv QLinearMatMul QLinearMul': { scales: [1, 4, 6], zeroPoints: [2, 5, 7] },
  // Operators of one quantized input and one quantized output: X, X_scale, X_zero_point, Y_scale, Y_zero_point.
  'QLinearAveragePool QLinearGlobalAveragePool QLinearLeakyRelu QLinearReduceMean QLinearSigmoid QLinearSoftmax': {
    scales: [1, 3],
    zeroPoints: [2, 4],
  },
  QLinearWhere: { scales: [2, 5, 7], zeroPoints: [3, 6, 8] },
});

const NONE: QuantizationInputs = { scales: [], zeroPoints: [] };

/** Y_scale, Y_zero_point, and for each input its values, scale and zero point. */
function ofConcat({ inputs }: Node): QuantizationInputs {
  const parts = Array.from({ length: Math.floor((inputs.length - 2) / 3) }, (_, part) => 2 + 3 * part);
  return { scales: [0, ...parts.map((at) => at + 1)], zeroPoints: [1, ...parts.map((at) => at + 2)] };
}

export function quantizationInputs(node: Node): QuantizationInputs {
  return node.opType === 'QLinearConcat' ? ofConcat(node) : (INPUTS.get(node.opType) ?? NONE);
}
