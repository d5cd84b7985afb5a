import { normalizeDomain } from '../model/opsets.js';
import type { Node } from '../model/model.js';

export interface SteeringInputs {
  /** The sizes of its outputs, and with them its own work and that of every operator after it. */
  readonly sizes?: readonly number[];
  /** Only its own work. */
  readonly work?: readonly number[];
  readonly lengths?: readonly number[];
  /** How it computes, but neither sizes nor work. */
  readonly way?: readonly number[];
}

export const REDUCTIONS =
  'ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare';

/** Sources: the operators' definitions in the ONNX project's Operators.md. Zero points are not listed here. */
const OF_ONNX: ReadonlyMap<string, SteeringInputs> = new Map<string, SteeringInputs>([
  ...REDUCTIONS.split(' ').map((operator) => [operator, { sizes: [1] }] as const),
  ['AffineGrid', { sizes: [1] }],
  ['Attention', { lengths: [6] }],
  ['BlackmanWindow', { sizes: [0] }],
  ['CenterCropPad', { sizes: [1] }],
  ['Clip', { way: [1, 2] }],
  ['Col2Im', { sizes: [1, 2] }],
  ['Compress', { sizes: [1] }],
  ['ConstantOfShape', { sizes: [0] }],
  ['CumProd', { way: [1] }],
  ['CumSum', { way: [1] }],
  ['DFT', { sizes: [1, 2] }],
  ['Dropout', { way: [1, 2] }],
  ['Expand', { sizes: [1] }],
  ['Gather', { way: [1] }],
  ['GatherElements', { way: [1] }],
  ['GRU', { lengths: [4] }],
  ['HammingWindow', { sizes: [0] }],
  ['HannWindow', { sizes: [0] }],
  ['If', { sizes: [0] }],
  ['ImageDecoder', { sizes: [0] }],
  ['Loop', { sizes: [0, 1] }],
  ['LSTM', { lengths: [4] }],
  ['MaxRoiPool', { work: [1] }],
  ['MaxUnpool', { sizes: [2] }],
  ['MelWeightMatrix', { sizes: [0, 1], way: [2, 3, 4] }],
  ['NonMaxSuppression', { sizes: [0, 1, 2, 3, 4] }],
  ['NonZero', { sizes: [0] }],
  ['OneHot', { sizes: [1], way: [2] }],
  ['Pad', { sizes: [1, 3], way: [2] }],
  ['Range', { sizes: [0, 1, 2] }],
  ['Reshape', { sizes: [1] }],
  ['Resize', { sizes: [1, 2, 3] }],
  ['ReverseSequence', { way: [1] }],
  ['RNN', { lengths: [4] }],
  ['RoiAlign', { work: [1] }],
  ['SequenceAt', { sizes: [1] }],
  ['SequenceErase', { sizes: [1] }],
  ['Slice', { sizes: [1, 2, 3, 4] }],
  ['Split', { sizes: [1] }],
  ['SplitToSequence', { sizes: [1] }],
  ['Squeeze', { sizes: [1] }],
  ['STFT', { sizes: [1, 3] }],
  ['StringSplit', { sizes: [0] }],
  ['Tile', { sizes: [1] }],
  ['TopK', { sizes: [1] }],
  ['Unique', { sizes: [0] }],
  ['Unsqueeze', { sizes: [1] }],
  ['Upsample', { sizes: [1] }],
]);

/** Operators of com.microsoft. Source: ContribOperators.md of ONNX Runtime. */
const OF_RUNTIME: ReadonlyMap<string, SteeringInputs> = new Map<string, SteeringInputs>([
  ['Attention', { lengths: [3, 6] }],
  ['BeamSearch', { sizes: [0, 1, 2, 3, 4] }],
  ['CropAndResize', { sizes: [3], work: [1] }],
  ['DecoderMaskedMultiHeadAttention', { lengths: [3, 7] }],
  ['DecoderMaskedSelfAttention', { lengths: [3, 6] }],
  ['ExpandDims', { sizes: [1] }],
  ['GreedySearch', { sizes: [0, 1, 2] }],
  ['GroupQueryAttention', { lengths: [5, 6] }],
  ['MoE', { work: [1] }],
  ['MultiHeadAttention', { lengths: [4, 8] }],
  ['Pad', { sizes: [1] }],
  ['QMoE', { work: [1] }],
  ['Range', { sizes: [0, 1, 2] }],
  ['RemovePadding', { sizes: [1] }],
  ['RotaryEmbedding', { way: [1] }],
  ['Sampling', { sizes: [0, 1, 2] }],
  ['SparseAttention', { lengths: [5, 6, 7, 8] }],
  ['Tokenizer', { sizes: [0] }],
  ['Unique', { sizes: [0] }],
  ['WhisperBeamSearch', { sizes: [0, 1, 2, 3, 4] }],
]);

const NOTHING: SteeringInputs = {};

export function findSteeringInputs({ opType, domain }: Pick<Node, 'opType' | 'domain'>): SteeringInputs {
  const operators = normalizeDomain(domain) === '' ? OF_ONNX : domain === 'com.microsoft' ? OF_RUNTIME : undefined;
  return operators?.get(opType) ?? NOTHING;
}

export function isSteeringInput(node: Pick<Node, 'opType' | 'domain'>, index: number): boolean {
  const { sizes = [], work = [], lengths = [], way = [] } = findSteeringInputs(node);
  return [sizes, work, lengths, way].some((indices) => indices.includes(index));
}
