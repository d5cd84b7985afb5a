import { type AttributeProto, AttributeProto_AttributeType as AttributeType } from '../../generated/onnx/onnx.js';
import type { Node } from '../model/model.js';
import { isStandard } from '../model/opsets.js';

/** Only those of ai.onnx that are the same in every opset from 7. Source: ONNX 1.23, get_all_schemas_with_history(). */
const DEFAULTS = `
ArgMax axis=0 keepdims=1 select_last_index=0; ArgMin axis=0 keepdims=1 select_last_index=0; AveragePool
auto_pad=NOTSET ceil_mode=0 count_include_pad=0; Cast round_mode=up saturate=1; Conv auto_pad=NOTSET group=1;
ConvInteger auto_pad=NOTSET group=1; ConvTranspose auto_pad=NOTSET group=1; CumSum exclusive=0 reverse=0;
DepthToSpace mode=DCR; DequantizeLinear axis=1 block_size=0 output_dtype=0; Flatten axis=1; GRU direction=forward
layout=0 linear_before_reset=0; Gather axis=0; GatherElements axis=0; GatherND batch_dims=0; Gelu approximate=none;
Gemm alpha=1 beta=1 transA=0 transB=0; GridSample align_corners=0 padding_mode=zeros; LayerNormalization axis=-1 stash_type=1; LSTM direction=forward
input_forget=0 layout=0; LpPool auto_pad=NOTSET ceil_mode=0 p=2; MaxPool auto_pad=NOTSET ceil_mode=0
storage_order=0; NonMaxSuppression center_point_box=0; OneHot axis=-1; Pad mode=constant; QLinearConv
auto_pad=NOTSET group=1; QuantizeLinear axis=1 block_size=0 output_dtype=0 precision=0 saturate=1; RNN
direction=forward layout=0; ReduceL1 keepdims=1 noop_with_empty_axes=0; ReduceL2 keepdims=1 noop_with_empty_axes=0;
ReduceLogSum keepdims=1 noop_with_empty_axes=0; ReduceLogSumExp keepdims=1 noop_with_empty_axes=0; ReduceMax
keepdims=1 noop_with_empty_axes=0; ReduceMean keepdims=1 noop_with_empty_axes=0; ReduceMin keepdims=1
noop_with_empty_axes=0; ReduceProd keepdims=1 noop_with_empty_axes=0; ReduceSum keepdims=1 noop_with_empty_axes=0;
ReduceSumSquare keepdims=1 noop_with_empty_axes=0; Reshape allowzero=0; ScatterElements axis=0 reduction=none;
ScatterND reduction=none; Shape start=0; Split axis=0; TopK axis=-1 largest=1 sorted=1; Trilu upper=1
`;

const VALUES: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  DEFAULTS.split(';').map((entry) => {
    const [opType = '', ...attributes] = entry.trim().split(/\s+/);
    const values = attributes.map((attribute) => attribute.split('=') as [string, string]);
    return [opType, new Map(values)];
  }),
);

/** Operators that slide a window, in ai.onnx and in ONNX Runtime's own domains, whose lists are ones or zeros by default. */
const WINDOWS: ReadonlySet<string> = new Set(
  'AveragePool Conv ConvInteger ConvTranspose FusedConv LpPool MaxPool NhwcFusedConv NhwcMaxPool QLinearAveragePool QLinearConv'.split(
    ' ',
  ),
);
const ONES: ReadonlySet<string> = new Set(['dilations', 'strides']);
const ZEROS: ReadonlySet<string> = new Set(['pads', 'output_padding']);

/** Source: Conv, ConvTranspose and the pools in ONNX's Operators.md. */
function isDefaultList({ name, ints }: AttributeProto): boolean {
  if (ints.length === 0) return false;
  if (ONES.has(name)) return ints.every((value) => value === 1n);
  return ZEROS.has(name) && ints.every((value) => value === 0n);
}

function hasValue({ type, f, i, s }: AttributeProto, text: string): boolean {
  switch (type) {
    case AttributeType.INT:
      return `${i}` === text;
    case AttributeType.FLOAT:
      return `${f}` === text;
    case AttributeType.STRING:
      return Buffer.from(s).toString('utf8') === text;
    default:
      return false;
  }
}

/** Whether an attribute could be left out of a node without changing what it computes. */
export function isDefaultAttribute(node: Pick<Node, 'opType' | 'domain'>, attribute: AttributeProto): boolean {
  if (WINDOWS.has(node.opType) && isDefaultList(attribute)) return true;
  if (!isStandard(node)) return false;
  const text = VALUES.get(node.opType)?.get(attribute.name);
  return text !== undefined && hasValue(attribute, text);
}
