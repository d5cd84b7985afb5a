import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSteeringInputs } from '../../../src/onnx/operators/steering-inputs.js';

/** What an input decides, by the mark at the end of its name; an input without a mark decides nothing. */
const MARKS = { '!': 'sizes', '*': 'work', '~': 'lengths', '?': 'way' } as const;

/** Operators with their inputs in order, up to the last one with a mark, by the names in Operators.md. */
const OF_ONNX = `
  AffineGrid theta size!
  Attention Q K V attn_mask past_key past_value nonpad_kv_seqlen~
  BlackmanWindow size!
  CenterCropPad input_data shape!
  Clip input min? max?
  Col2Im input image_shape! block_shape!
  Compress input condition!
  ConstantOfShape input!
  CumProd x axis?
  CumSum x axis?
  DFT input dft_length! axis!
  Dropout data ratio? training_mode?
  Expand input shape!
  Gather data indices?
  GatherElements data indices?
  GRU X W R B sequence_lens~
  HammingWindow size!
  HannWindow size!
  If cond!
  ImageDecoder encoded_stream!
  Loop M! cond!
  LSTM X W R B sequence_lens~
  MaxRoiPool X rois*
  MaxUnpool X I output_shape!
  MelWeightMatrix num_mel_bins! dft_length! sample_rate? lower_edge_hertz? upper_edge_hertz?
  NonMaxSuppression boxes! scores! max_output_boxes_per_class! iou_threshold! score_threshold!
  NonZero X!
  OneHot indices depth! values?
  Pad data pads! constant_value? axes!
  Range start! limit! delta!
  ReduceL1 data axes!
  ReduceL2 data axes!
  ReduceLogSum data axes!
  ReduceLogSumExp data axes!
  ReduceMax data axes!
  ReduceMean data axes!
  ReduceMin data axes!
  ReduceProd data axes!
  ReduceSum data axes!
  ReduceSumSquare data axes!
  Relu X
  Reshape data shape!
  Resize X roi! scales! sizes!
  ReverseSequence input sequence_lens?
  RNN X W R B sequence_lens~
  RoiAlign X rois*
  SequenceAt input_sequence position!
  SequenceErase input_sequence position!
  Slice data starts! ends! axes! steps!
  Split input split!
  SplitToSequence input split!
  Squeeze data axes!
  STFT signal frame_step! window frame_length!
  StringSplit X!
  Tile input repeats!
  TopK X K!
  Unique X!
  Unsqueeze data axes!
  Upsample X scales!
`;

/** Likewise, by the names in ContribOperators.md. */
const OF_RUNTIME = `
  Attention input weights bias mask_index~ past attention_bias past_sequence_length~
  AttnLSTM X W R B sequence_lens~
  BeamSearch input_ids! max_length! min_length! num_beams! num_return_sequences!
  BifurcationDetector src_tokens! cur_tokens! prev_suffix_match_num! pred_tokens!
  ConvTransposeWithDynamicPads X W Pads!
  CropAndResize X rois* batch_indices crop_size!
  DecoderMaskedMultiHeadAttention query key value mask_index~ attention_bias past_key past_value past_sequence_length~
  DecoderMaskedSelfAttention input weights bias mask_index~ past attention_bias past_sequence_length~
  DynamicQuantizeLSTM X W R B sequence_lens~
  DynamicTimeWarping input!
  ExpandDims X axis!
  GreedySearch input_ids! max_length! min_length!
  GroupQueryAttention query key value past_key past_value seqlens_k~ total_sequence_length~
  MoE input router_probs*
  MultiHeadAttention query key value bias key_padding_mask~ attention_bias past_key past_value past_sequence_length~
  Pad data pads!
  QMoE input router_probs*
  Range start! limit! delta!
  Relu X
  RemovePadding input sequence_token_count!
  RotaryEmbedding input position_ids?
  Sampling input_ids! max_length! min_length!
  SparseAttention query key value past_key past_value row_indices~ col_indices~ total_length~ key_lengths~
  Tokenizer X!
  Unique x!
  WhisperBeamSearch input_ids! max_length! min_length! num_beams! num_return_sequences!
`;

for (const [domain, operators] of [
  ['', OF_ONNX],
  ['com.microsoft', OF_RUNTIME],
] as const) {
  test(`inputs that steer are those by which the definitions say it, in the domain "${domain}"`, () => {
    for (const [opType = '', ...inputs] of operators
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' '))) {
      const expected: Record<string, number[]> = {};
      for (const [mark, decides] of Object.entries(MARKS)) {
        const indices = inputs.flatMap((name, index) => (name.endsWith(mark) ? [index] : []));
        if (indices.length > 0) expected[decides] = indices;
      }
      assert.deepEqual(findSteeringInputs({ opType, domain }), expected, opType);
    }
  });
}
