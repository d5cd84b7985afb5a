import { isStandard } from '../model/opsets.js';
import type { Node } from '../model/model.js';
import { tableOfNames } from '../../base/table-of-names.js';

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

const SIZED_BY_SECOND =
  `${REDUCTIONS} AffineGrid CenterCropPad Compress Expand Reshape SequenceAt SequenceErase Split SplitToSequence ` +
  'Squeeze Tile TopK Unsqueeze Upsample';

/** Sources: the operators' definitions in the ONNX project's Operators.md. Zero points are not listed here. */
const OF_ONNX = tableOfNames<SteeringInputs>({
  [SIZED_BY_SECOND]: { sizes: [1] },
  Attention: { lengths: [6] },
  'BlackmanWindow ConstantOfShape HammingWindow HannWindow If ImageDecoder NonZero StringSplit Unique': { sizes: [0] },
  'Clip Dropout': { way: [1, 2] },
  'Col2Im DFT': { sizes: [1, 2] },
  'CumProd CumSum Gather GatherElements ReverseSequence': { way: [1] },
  'GRU LSTM RNN': { lengths: [4] },
  Loop: { sizes: [0, 1] },
  'MaxRoiPool RoiAlign': { work: [1] },
  MaxUnpool: { sizes: [2] },
  MelWeightMatrix: { sizes: [0, 1], way: [2, 3, 4] },
  NonMaxSuppression: { sizes: [0, 1, 2, 3, 4] },
  OneHot: { sizes: [1], way: [2] },
  Pad: { sizes: [1, 3], way: [2] },
  Range: { sizes: [0, 1, 2] },
  Resize: { sizes: [1, 2, 3] },
  Slice: { sizes: [1, 2, 3, 4] },
  STFT: { sizes: [1, 3] },
});

/** Operators of com.microsoft. Source: ContribOperators.md of ONNX Runtime. */
const OF_RUNTIME = tableOfNames<SteeringInputs>({
  'Attention DecoderMaskedSelfAttention': { lengths: [3, 6] },
  'AttnLSTM DynamicQuantizeLSTM': { lengths: [4] },
  'BeamSearch WhisperBeamSearch': { sizes: [0, 1, 2, 3, 4] },
  BifurcationDetector: { sizes: [0, 1, 2, 3] },
  ConvTransposeWithDynamicPads: { sizes: [2] },
  CropAndResize: { sizes: [3], work: [1] },
  DecoderMaskedMultiHeadAttention: { lengths: [3, 7] },
  'ExpandDims Pad RemovePadding': { sizes: [1] },
  'GreedySearch Range Sampling': { sizes: [0, 1, 2] },
  GroupQueryAttention: { lengths: [5, 6] },
  'MoE QMoE': { work: [1] },
  MultiHeadAttention: { lengths: [4, 8] },
  RotaryEmbedding: { way: [1] },
  SparseAttention: { lengths: [5, 6, 7, 8] },
  'DynamicTimeWarping Tokenizer Unique': { sizes: [0] },
});

const NOTHING: SteeringInputs = {};

export function findSteeringInputs({ opType, domain }: Pick<Node, 'opType' | 'domain'>): SteeringInputs {
  const operators = isStandard({ domain }) ? OF_ONNX : domain === 'com.microsoft' ? OF_RUNTIME : undefined;
  return operators?.get(opType) ?? NOTHING;
}

export function isSteeringInput(node: Pick<Node, 'opType' | 'domain'>, index: number): boolean {
  const { sizes = [], work = [], lengths = [], way = [] } = findSteeringInputs(node);
  return [sizes, work, lengths, way].some((indices) => indices.includes(index));
}
