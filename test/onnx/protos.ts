import {
  AttributeProto,
  AttributeProto_AttributeType as AttributeType,
  FunctionProto,
  GraphProto,
  ModelProto,
  NodeProto,
  TensorProto,
  type ValueInfoProto,
} from '../../src/generated/onnx/onnx.js';
import { ELEMENT_TYPES, type ElementType } from '../../src/onnx/model/element-type.js';
import type { Dimension } from '../../src/onnx/model/model.js';
import { toTypeProto } from '../../src/onnx/write/write-model.js';

/** Short ways to write ONNX messages, so that a test shows only its subject. */

export function value(name: string, dims?: readonly Dimension[], elementType: ElementType = 'float32'): ValueInfoProto {
  return { name, docString: '', type: toTypeProto({ elementType, dims }) };
}

export function node(
  opType: string,
  input: string[],
  output: string[],
  attribute: AttributeProto[] = [],
  rest: Partial<NodeProto> = {},
): NodeProto {
  return { ...NodeProto.create(), opType, input, output, attribute, ...rest };
}

export function tensor(
  name: string,
  elementType: ElementType,
  dims: number[],
  data: Partial<TensorProto>,
): TensorProto {
  const { code } = ELEMENT_TYPES[elementType];
  return { ...TensorProto.create(), name, dims: dims.map(BigInt), dataType: code, ...data };
}

export function floats(name: string, values: number[], dims = [values.length]): TensorProto {
  return tensor(name, 'float32', dims, { rawData: new Uint8Array(Float32Array.from(values).buffer) });
}

export function integers(name: string, values: bigint[], dims = [values.length]): TensorProto {
  return tensor(name, 'int64', dims, { rawData: new Uint8Array(BigInt64Array.from(values).buffer) });
}

export function attribute(name: string, rest: Partial<AttributeProto>): AttributeProto {
  return { ...AttributeProto.create(), name, ...rest };
}

export const float = (name: string, f: number): AttributeProto => attribute(name, { f, type: AttributeType.FLOAT });
export const int = (name: string, i: number): AttributeProto =>
  attribute(name, { i: BigInt(i), type: AttributeType.INT });
export const ints = (name: string, list: number[]): AttributeProto =>
  attribute(name, { ints: list.map(BigInt), type: AttributeType.INTS });
export const tensorAttribute = (name: string, t: TensorProto): AttributeProto =>
  attribute(name, { t, type: AttributeType.TENSOR });
export const graphAttribute = (name: string, g: GraphProto): AttributeProto =>
  attribute(name, { g, type: AttributeType.GRAPH });
/** A reference to a function's parameter. */
export const reference = (name: string, refAttrName: string, type: AttributeType): AttributeProto =>
  attribute(name, { refAttrName, type });

export function graph(rest: Partial<GraphProto>): GraphProto {
  return { ...GraphProto.create(), name: 'graph', ...rest };
}

export function fn(name: string, rest: Partial<FunctionProto>): FunctionProto {
  const opsetImport = [{ domain: '', version: 17n }];
  return { ...FunctionProto.create(), name, domain: 'local', opsetImport, ...rest };
}

export function model(rest: Partial<GraphProto>, whole: Partial<ModelProto> = {}): Uint8Array {
  const opsetImport = [{ domain: '', version: 17n }];
  return ModelProto.encode({
    ...ModelProto.create(),
    irVersion: 8n,
    opsetImport,
    graph: graph(rest),
    ...whole,
  }).finish();
}

/** A model with one input x and one output y of shape [1, 4], and `nodes` between them. */
export function pipeline(nodes: NodeProto[], rest: Partial<GraphProto> = {}): Uint8Array {
  return model({ node: nodes, input: [value('x', [1, 4])], output: [value('y', [1, 4])], ...rest });
}
