import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { relative } from 'node:path';
import { TensorProto, TensorProto_DataLocation } from '../generated/onnx/onnx.js';
import { joinedBlocks } from '../base/joined-blocks.js';
import type { BenchmarkInput } from '../measurement/benchmark.js';
import { ELEMENT_TYPES, tensorBytes } from '../onnx/model/element-type.js';
import { FIELDS } from '../onnx/bytes/field-numbers.js';
import { bytesTag, varint } from '../onnx/bytes/wire-format.js';
import { type FillableModel, type FillableWeight, inputBlocks, weightBlocks } from './materialize.js';

// Where a field for one message occurs twice, readers merge the two messages. So the initializers follow the encoded
// graph as a second piece of it. Source: "Last One Wins", https://protobuf.dev/programming-guides/encoding/
const MODEL_GRAPH = bytesTag(FIELDS.ModelProto.graph);
const GRAPH_INITIALIZER = bytesTag(FIELDS.GraphProto.initializer);
const TENSOR_RAW_DATA = bytesTag(FIELDS.TensorProto.rawData);

/** So that a runtime can map each external weight. Source: ExternalDataInfo in onnx.proto. */
const EXTERNAL_ALIGNMENT_BYTES = 4096;

interface FilePiece {
  readonly offset: number;
  /** Each is only valid until the next one is asked for. */
  readonly blocks: Iterable<Uint8Array>;
}

export interface WeightsFile {
  readonly name: string;
  readonly byteLength: number;
  readonly pieces: readonly FilePiece[];
}

export interface ExternalModel {
  readonly model: Uint8Array;
  readonly files: readonly WeightsFile[];
}

function describe({ name, dims, elementType }: BenchmarkInput): TensorProto {
  return { ...TensorProto.create(), name, dims: dims.map(BigInt), dataType: ELEMENT_TYPES[elementType].code };
}

export function encodeInline({ graph, weights }: FillableModel, limitBytes: number): Uint8Array | undefined {
  const heads = weights.map((weight) => {
    const dataBytes = tensorBytes(weight);
    const fields = TensorProto.encode(describe(weight)).finish();
    const tensor = Buffer.concat([fields, TENSOR_RAW_DATA, varint(dataBytes)]);
    return Buffer.concat([GRAPH_INITIALIZER, varint(tensor.length + dataBytes), tensor]);
  });
  const initializerBytes = weights.reduce((sum, weight, i) => sum + (heads[i]?.length ?? 0) + tensorBytes(weight), 0);
  const prefix = Buffer.concat([graph, MODEL_GRAPH, varint(initializerBytes)]);
  if (prefix.length + initializerBytes > limitBytes) return undefined;

  function* pieces(): Generator<Uint8Array> {
    yield prefix;
    for (const [i, weight] of weights.entries()) {
      yield heads[i] ?? new Uint8Array();
      yield* weightBlocks(weight);
    }
  }
  return joinedBlocks(pieces(), prefix.length + initializerBytes);
}

function externalTensor(weight: BenchmarkInput, location: string, offset: number): TensorProto {
  const entries = { location, offset, length: tensorBytes(weight) };
  const externalData = Object.entries(entries).map(([key, value]) => ({ key, value: `${value}` }));
  return { ...describe(weight), dataLocation: TensorProto_DataLocation.EXTERNAL, externalData };
}

function withInitializers(graph: Uint8Array, tensors: readonly TensorProto[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const tensor of tensors) TensorProto.encode(tensor, writer.raw(GRAPH_INITIALIZER).fork()).join();
  const graphPart = writer.finish();
  return Buffer.concat([graph, MODEL_GRAPH, varint(graphPart.length), graphPart]);
}

export function inlineTensor(weight: FillableWeight): TensorProto {
  return { ...describe(weight), rawData: joinedBlocks(weightBlocks(weight), tensorBytes(weight)) };
}

/** The runtime reads smaller weights. Source: kSmallTensorExternalDataThreshold in its tensorprotoutils.h. */
const MIN_EXTERNAL_BYTES = 128;

/** The file that several weights share; each one from `ownFileBytes` on has a file of its own with a number. */
const WEIGHTS_FILE = 'weights.bin';

export function encodeExternal({ graph, weights }: FillableModel, ownFileBytes = Infinity): ExternalModel {
  const tensors: TensorProto[] = [];
  const pieces: FilePiece[] = [];
  const own: WeightsFile[] = [];
  let end = 0;
  for (const weight of weights) {
    const byteLength = tensorBytes(weight);
    const blocks = weightBlocks(weight);
    if (byteLength < MIN_EXTERNAL_BYTES) {
      tensors.push(inlineTensor(weight));
    } else if (byteLength >= ownFileBytes) {
      const name = `${WEIGHTS_FILE}.${own.length}`;
      tensors.push(externalTensor(weight, name, 0));
      own.push({ name, byteLength, pieces: [{ offset: 0, blocks }] });
    } else {
      const offset = Math.ceil(end / EXTERNAL_ALIGNMENT_BYTES) * EXTERNAL_ALIGNMENT_BYTES;
      end = offset + byteLength;
      tensors.push(externalTensor(weight, WEIGHTS_FILE, offset));
      pieces.push({ offset, blocks });
    }
  }
  const shared = pieces.length === 0 ? [] : [{ name: WEIGHTS_FILE, byteLength: end, pieces }];
  return { model: withInitializers(graph, tensors), files: [...shared, ...own] };
}

export interface InPlaceOptions {
  readonly isBeside: (weight: FillableWeight) => boolean;
  readonly folder: string;
  readonly limitBytes: number;
}

/** Contains only the weights that are not in other files. @returns undefined past `limitBytes` */
export function encodeInPlace(
  { graph, weights }: FillableModel,
  { isBeside, folder, limitBytes }: InPlaceOptions,
): Uint8Array | undefined {
  const tensors: TensorProto[] = [];
  const others: FillableWeight[] = [];
  for (const weight of weights) {
    if (weight.data === undefined || !isBeside(weight)) others.push(weight);
    else tensors.push(externalTensor(weight, relative(folder, weight.data.path), weight.data.offset));
  }
  return encodeInline({ graph: withInitializers(graph, tensors), weights: others }, limitBytes);
}

/** Larger weights influence the optimized graph only by type and shape; its values are those of smaller ones. */
export const MIN_ALIASED_BYTES = 2 ** 17;

/** Floats of any range may share bytes; integers may be indices, which have to stay in range. */
function aliasOf({ elementType, fill: { low, high } }: BenchmarkInput): string {
  return ELEMENT_TYPES[elementType].kind === 'float' ? elementType : `${elementType}_${low}_${high}`;
}

/** The rest of a file of floats is a hole, which reads as zeros. Integers are complete: zero may be no valid index. */
function* fillBeginning(weight: BenchmarkInput): Generator<Uint8Array> {
  for (const block of inputBlocks(weight)) {
    yield block;
    if (ELEMENT_TYPES[weight.elementType].kind === 'float') return;
  }
}

/** All large weights of one kind have the same bytes, which take little time to fill, for uses without their values. */
export function aliasedModel({ graph, weights }: FillableModel): ExternalModel {
  const largest = new Map<string, BenchmarkInput>();
  const tensors = weights.map((weight): TensorProto => {
    if (tensorBytes(weight) < MIN_ALIASED_BYTES) return inlineTensor(weight);
    const alias = aliasOf(weight);
    const before = largest.get(alias);
    if (before === undefined || tensorBytes(weight) > tensorBytes(before)) largest.set(alias, weight);
    return externalTensor(weight, `${alias}.bin`, 0);
  });
  const files = [...largest].map(([alias, weight]): WeightsFile => {
    return {
      name: `${alias}.bin`,
      byteLength: tensorBytes(weight),
      pieces: [{ offset: 0, blocks: fillBeginning(weight) }],
    };
  });
  return { model: withInitializers(graph, tensors), files };
}
