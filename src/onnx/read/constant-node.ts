import { AttributeProto_AttributeType, type NodeProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import type { Tensor } from '../model/model.js';
import { nodeLabel } from '../model/node-label.js';
import { isStandard } from '../model/opsets.js';
import type { TensorReader } from './tensor-reader.js';

export function isConstant(node: Pick<NodeProto, 'opType' | 'domain'>): boolean {
  return node.opType === 'Constant' && isStandard(node);
}

function littleEndian(bytesPerElement: number, count: number, set: (view: DataView, i: number) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(count * bytesPerElement));
  for (let i = 0; i < count; i++) set(view, i);
  return new Uint8Array(view.buffer);
}

function floats(values: readonly number[], dims: readonly number[]): Tensor {
  const bytes = littleEndian(4, values.length, (view, i) => view.setFloat32(i * 4, values[i] ?? 0, true));
  return { elementType: 'float32', dims, data: { kind: 'inline', bytes } };
}

function integers(values: readonly bigint[], dims: readonly number[]): Tensor {
  const bytes = littleEndian(8, values.length, (view, i) => view.setBigInt64(i * 8, values[i] ?? 0n, true));
  return { elementType: 'int64', dims, data: { kind: 'inline', bytes } };
}

function strings(values: readonly Uint8Array[], dims: readonly number[]): Tensor {
  return { elementType: 'string', dims, data: { kind: 'strings', values } };
}

export interface ConstantReader extends Pick<TensorReader, 'read'> {
  readonly source: { readonly name: string };
}

/**
 * Source: ONNX operators, Constant (opset 13): value, value_float(s), value_int(s), value_string(s), sparse_value.
 *
 * @throws PlatformError 'model' where there is no value or more than one, or it is sparse
 */
export function constantTensor(node: NodeProto, tensors: ConstantReader): Tensor {
  const label = nodeLabel({ ...node, outputs: node.output });
  const fail = (problem: string): never => {
    throw new PlatformError('model', `${tensors.source.name}: ${label} ${problem}. Export the model again.`);
  };
  const [attribute, second] = node.attribute;
  if (attribute === undefined || second !== undefined) return fail('does not have exactly one value');
  switch (attribute.name) {
    case 'value':
      if (attribute.t === undefined) return fail('has no tensor in its attribute "value"');
      return tensors.read(attribute.t, label);
    case 'value_float':
      return floats([attribute.f], []);
    case 'value_floats':
      return floats(attribute.floats, [attribute.floats.length]);
    case 'value_int':
      return integers([attribute.i], []);
    case 'value_ints':
      return integers(attribute.ints, [attribute.ints.length]);
    case 'value_string':
      return strings([attribute.s], []);
    case 'value_strings':
      return strings(attribute.strings, [attribute.strings.length]);
    case 'sparse_value':
      return fail('has a sparse value, which is not supported');
    default:
      return fail(`has no value that is known (${AttributeProto_AttributeType[attribute.type] ?? attribute.type})`);
  }
}
