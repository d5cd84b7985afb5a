import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { TensorProto, TensorProto_DataLocation } from '../generated/onnx/onnx.js';
import type { BenchmarkInput } from '../measurement/benchmark.js';
import { ELEMENT_TYPES } from '../onnx/element-type.js';
import { FIELDS } from '../onnx/field-numbers.js';
import { bytesTag, varint } from '../onnx/wire-format.js';
import { type FillableModel, filledBytes, inputBlocks } from './materialize.js';

// A message may be written in pieces: where a field that holds one message comes twice, readers merge the two. So the
// initializers need not be woven into the encoded graph, they follow as a second piece of it.
// Source: "Last One Wins", https://protobuf.dev/programming-guides/encoding/#last-one-wins
const MODEL_GRAPH = bytesTag(FIELDS.ModelProto.graph);
const GRAPH_INITIALIZER = bytesTag(FIELDS.GraphProto.initializer);
const TENSOR_RAW_DATA = bytesTag(FIELDS.TensorProto.rawData);

/** Where each external weight starts, so that a runtime can map it. Source: ExternalDataInfo in onnx.proto. */
const EXTERNAL_ALIGNMENT_BYTES = 4096;

/** One weight in an external data file. */
export interface ExternalWeight {
  readonly offset: number;
  /** Pieces in order; each is only valid until the next one is asked for. */
  readonly blocks: Iterable<Uint8Array>;
}

export interface ExternalModel {
  readonly model: Uint8Array;
  readonly weights: readonly ExternalWeight[];
}

function describe({ name, dims, elementType }: BenchmarkInput): TensorProto {
  return { ...TensorProto.create(), name, dims: dims.map(BigInt), dataType: ELEMENT_TYPES[elementType].code };
}

/**
 * The model as one file with its weights in it, in one buffer.
 *
 * @returns undefined where that would be more than `limitBytes`
 */
export function encodeInline({ graph, weights }: FillableModel, limitBytes: number): Uint8Array | undefined {
  const heads = weights.map((weight) => {
    const dataBytes = filledBytes(weight);
    const fields = TensorProto.encode(describe(weight)).finish();
    const tensor = Buffer.concat([fields, TENSOR_RAW_DATA, varint(dataBytes)]);
    return Buffer.concat([GRAPH_INITIALIZER, varint(tensor.length + dataBytes), tensor]);
  });
  const initializerBytes = weights.reduce((sum, weight, i) => sum + (heads[i]?.length ?? 0) + filledBytes(weight), 0);
  const prefix = Buffer.concat([graph, MODEL_GRAPH, varint(initializerBytes)]);
  if (prefix.length + initializerBytes > limitBytes) return undefined;

  const bytes = new Uint8Array(prefix.length + initializerBytes);
  let offset = 0;
  const append = (piece: Uint8Array): void => {
    bytes.set(piece, offset);
    offset += piece.length;
  };
  append(prefix);
  for (const [i, weight] of weights.entries()) {
    append(heads[i] ?? new Uint8Array());
    for (const block of inputBlocks(weight)) append(block);
  }
  return bytes;
}

/** The model as a small file that refers to the file `location` beside it for its weights. */
export function encodeExternal({ graph, weights }: FillableModel, location: string): ExternalModel {
  const initializers = new BinaryWriter();
  const external: ExternalWeight[] = [];
  let end = 0;
  for (const weight of weights) {
    const length = filledBytes(weight);
    const offset = Math.ceil(end / EXTERNAL_ALIGNMENT_BYTES) * EXTERNAL_ALIGNMENT_BYTES;
    end = offset + length;
    const externalData = Object.entries({ location, offset, length }).map(([key, value]) => ({
      key,
      value: `${value}`,
    }));
    const tensor: TensorProto = { ...describe(weight), dataLocation: TensorProto_DataLocation.EXTERNAL, externalData };
    TensorProto.encode(tensor, initializers.raw(GRAPH_INITIALIZER).fork()).join();
    external.push({ offset, blocks: inputBlocks(weight) });
  }
  const graphPart = initializers.finish();
  return { model: Buffer.concat([graph, MODEL_GRAPH, varint(graphPart.length), graphPart]), weights: external };
}
