import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { closeSync, openSync, readSync } from 'node:fs';
import { messageOf, PlatformError } from '../../base/errors.js';
import { joinedBlocks } from '../../base/joined-blocks.js';
import { oncePer } from '../../base/once-per.js';
import { sha256Of } from '../../base/sha256.js';
import {
  NodeProto,
  OperatorSetIdProto,
  TensorProto,
  type TensorShapeProto_Dimension,
  type TypeProto,
  ValueInfoProto,
} from '../../generated/onnx/onnx.js';
import { elementCount, ELEMENT_TYPES, tensorBytes } from '../model/element-type.js';
import { FIELDS } from '../bytes/field-numbers.js';
import { fillBlocks } from '../values/fill.js';
import type { DeclaredType, Dimension, InputValues, Model, Node, Tensor, TensorData } from '../model/model.js';
import { bytesTag, varint } from '../bytes/wire-format.js';

export interface EncodedModel {
  readonly byteLength: number;
  /** Pieces in order; each is only valid until the next one is asked for. */
  readonly chunks: Iterable<Uint8Array>;
}

const { ModelProto: MODEL, GraphProto: GRAPH, TensorProto: TENSOR } = FIELDS;
const BYTES = WireType.LengthDelimited;
const FILE_BLOCK_BYTES = 1 << 20;

function dataByteLength(tensor: Tensor): number {
  switch (tensor.data.kind) {
    case 'inline':
      return tensor.data.bytes.length;
    case 'file':
      return tensor.data.byteLength;
    case 'fill':
      return tensorBytes(tensor);
    case 'strings':
      return 0;
  }
}

function openWeights(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const advice = 'Put the file back to where the model was read from.';
    throw new PlatformError('model', `weights cannot be read: ${messageOf(error)}. ${advice}`, { cause: error });
  }
}

/** Each block is valid until the next one is asked for. @throws PlatformError 'model' when the file is gone or short */
export function* fileBlocks({
  path,
  offset,
  byteLength,
}: Extract<TensorData, { readonly kind: 'file' }>): Generator<Uint8Array> {
  const file = openWeights(path);
  try {
    const block = new Uint8Array(Math.min(FILE_BLOCK_BYTES, byteLength));
    for (let done = 0; done < byteLength;) {
      const read = readSync(file, block, 0, Math.min(block.length, byteLength - done), offset + done);
      if (read === 0)
        throw new PlatformError('model', `${path} ends before byte ${offset + byteLength}. Copy it again.`);
      yield block.subarray(0, read);
      done += read;
    }
  } finally {
    closeSync(file);
  }
}

/** The raw_data of a tensor in blocks, each of which is only valid until the next one is asked for; none for texts. */
export function* tensorBlocks(tensor: Tensor): Generator<Uint8Array> {
  const { data } = tensor;
  if (data.kind === 'inline') yield data.bytes;
  else if (data.kind === 'file') yield* fileBlocks(data);
  else if (data.kind === 'fill') yield* fillBlocks(tensor.elementType, elementCount(tensor.dims), data.fill);
}

interface EncodedTensor {
  readonly tensor: Tensor;
  /** Everything of the TensorProto up to and including the length of raw_data. */
  readonly head: Uint8Array;
  readonly dataBytes: number;
}

function encodeTensor(name: string, tensor: Tensor): EncodedTensor {
  const dataBytes = dataByteLength(tensor);
  const fields = TensorProto.encode({
    ...TensorProto.create(),
    name,
    dims: tensor.dims.map(BigInt),
    dataType: ELEMENT_TYPES[tensor.elementType].code,
    stringData: tensor.data.kind === 'strings' ? [...tensor.data.values] : [],
  }).finish();
  if (tensor.data.kind === 'strings') return { tensor, head: fields, dataBytes };
  return { tensor, head: Buffer.concat([fields, bytesTag(TENSOR.rawData), varint(dataBytes)]), dataBytes };
}

function toDimension(dim: Dimension): TensorShapeProto_Dimension {
  if (typeof dim === 'number') return { denotation: '', value: { $case: 'dimValue', value: BigInt(dim) } };
  return { denotation: '', value: dim === '' ? undefined : { $case: 'dimParam', value: dim } };
}

export function toTypeProto({ elementType, dims }: DeclaredType): TypeProto {
  const shape = dims && { dim: dims.map(toDimension) };
  const value = { elemType: ELEMENT_TYPES[elementType].code, shape };
  return { denotation: '', value: { $case: 'tensorType', value } };
}

export function toNodeProto(node: Node): NodeProto {
  return {
    name: node.name,
    opType: node.opType,
    domain: node.domain,
    input: [...node.inputs],
    output: [...node.outputs],
    attribute: [...node.attributes],
    docString: '',
    overload: '',
    metadataProps: [...(node.metadata ?? [])].map(([key, value]) => ({ key, value })),
  };
}

/** Longer lists are described by their hash. */
const MAX_DESCRIBED = 65_536;

function describedValues(given: InputValues | undefined): string {
  if (given === undefined) return '';
  const { low, high, list } = given;
  if (list === undefined) return `from ${low} to ${high}`;
  if (list.length <= MAX_DESCRIBED) return list.join(' ');
  return `SHA-256 ${sha256Of(Float64Array.from(list))}`;
}

/** A graph has the same nodes in all sizes, with and without its name. */
const encodeNodes = oncePer((nodes: readonly Node[]): Uint8Array => {
  const writer = new BinaryWriter();
  for (const node of nodes) NodeProto.encode(toNodeProto(node), writer.tag(GRAPH.node, BYTES).fork()).join();
  return writer.finish();
});

/**
 * Weights come last, so that neither the whole file nor a whole weight is ever in memory. Only inputs with a user's
 * values have documentation strings, so that their signatures differ. @throws PlatformError 'model' as fileBlocks
 */
export function encodeModel(model: Model): EncodedModel {
  const { graph } = model;
  const header = new BinaryWriter();
  header.tag(MODEL.irVersion, WireType.Varint).int64(model.irVersion);
  for (const [domain, version] of model.opsets) {
    const opset = { domain, version: BigInt(version) };
    OperatorSetIdProto.encode(opset, header.tag(MODEL.opsetImport, BYTES).fork()).join();
  }
  const headerBytes = header.finish();

  const body = new BinaryWriter().raw(encodeNodes(graph.nodes));
  body.tag(GRAPH.name, BYTES).string(graph.name);
  const writeValue = (fieldNumber: number, name: string): void => {
    const type = graph.types.get(name);
    const docString = describedValues(graph.given?.get(name));
    const info = { name, docString, type: type && toTypeProto(type) };
    ValueInfoProto.encode(info, body.tag(fieldNumber, BYTES).fork()).join();
  };
  const ends = new Set([...graph.inputs, ...graph.outputs]);
  for (const name of graph.inputs) writeValue(GRAPH.input, name);
  for (const name of graph.outputs) writeValue(GRAPH.output, name);
  for (const name of graph.types.keys()) {
    if (!ends.has(name) && !graph.initializers.has(name)) writeValue(GRAPH.valueInfo, name);
  }
  const bodyBytes = body.finish();

  const tensors = [...graph.initializers].map(([name, tensor]) => encodeTensor(name, tensor));
  const tensorPrefix = ({ head, dataBytes }: EncodedTensor): Uint8Array =>
    Buffer.concat([bytesTag(GRAPH.initializer), varint(head.length + dataBytes), head]);
  const prefixes = tensors.map(tensorPrefix);
  const tensorBytes = tensors.reduce((sum, { dataBytes }, i) => sum + (prefixes[i]?.length ?? 0) + dataBytes, 0);

  const graphLength = bodyBytes.length + tensorBytes;
  const graphPrefix = Buffer.concat([bytesTag(MODEL.graph), varint(graphLength)]);

  function* chunks(): Generator<Uint8Array> {
    yield headerBytes;
    yield graphPrefix;
    yield bodyBytes;
    for (const [i, { tensor }] of tensors.entries()) {
      const prefix = prefixes[i];
      if (prefix !== undefined) yield prefix;
      yield* tensorBlocks(tensor);
    }
  }
  return {
    byteLength: headerBytes.length + graphPrefix.length + graphLength,
    chunks: { [Symbol.iterator]: chunks },
  };
}

export function encodeModelToBytes(model: Model): Uint8Array {
  const { byteLength, chunks } = encodeModel(model);
  return joinedBlocks(chunks, byteLength);
}
