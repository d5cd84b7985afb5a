import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GraphProto, ModelProto, TensorProto, TensorProto_DataLocation } from '../../src/generated/onnx/onnx.js';
import { graph, node, tensor, value } from './protos.js';

/** Rows and columns of each weight: 16 MiB of float32. */
const WIDTH = 2048;
export const WEIGHT_BYTES = WIDTH * WIDTH * 4;

/**
 * Writes a chain of matrix products whose weights are holes in a sparse file, so that gigabytes take no time and no
 * space: inside of the model file, or in external data beside it.
 *
 * @returns the path of the model file
 */
export async function writeSparseModel(folder: string, weights: number, where: 'inline' | 'external'): Promise<string> {
  const path = join(folder, `${where}.onnx`);
  const dataPath = join(folder, `${where}.data`);
  const opsetImport = [{ domain: '', version: 17n }];
  const head = ModelProto.encode({ ...ModelProto.create(), irVersion: 8n, opsetImport }).finish();
  const body = GraphProto.encode(chain(weights)).finish();
  const names = Array.from({ length: weights }, (_, i) => `w${i}`);
  const parts =
    where === 'inline' ? names.map(inlineWeight) : names.map((name, i) => externalWeight(name, i, basename(dataPath)));

  const graphBytes = body.length + parts.reduce((sum, part) => sum + part.bytes.length + part.holeBytes, 0);
  const file = await open(path, 'w');
  let position = 0;
  const write = async (bytes: Uint8Array, holeBytes = 0): Promise<void> => {
    await file.write(bytes, 0, bytes.length, position);
    position += bytes.length + holeBytes;
  };
  await write(head);
  await write(new BinaryWriter().tag(7, 2).uint64(graphBytes).finish());
  await write(body);
  for (const { bytes, holeBytes } of parts) await write(bytes, holeBytes);
  await file.truncate(position);
  await file.close();
  if (where === 'external') {
    const data = await open(dataPath, 'w');
    await data.truncate(weights * WEIGHT_BYTES);
    await data.close();
  }
  return path;
}

function chain(length: number): GraphProto {
  const nodes = Array.from({ length }, (_, i) => node('MatMul', [`v${i}`, `w${i}`], [`v${i + 1}`]));
  return graph({ node: nodes, input: [value('v0', [1, WIDTH])], output: [value(`v${length}`, [1, WIDTH])] });
}

interface Part {
  readonly bytes: Uint8Array;
  /** Zeros that follow and are not written. */
  readonly holeBytes: number;
}

function inlineWeight(name: string): Part {
  const fields = TensorProto.encode(tensor(name, 'float32', [WIDTH, WIDTH], {})).finish();
  const rawData = new BinaryWriter().tag(9, 2).uint64(WEIGHT_BYTES).finish();
  const length = fields.length + rawData.length + WEIGHT_BYTES;
  return {
    bytes: new BinaryWriter().tag(5, 2).uint64(length).raw(fields).raw(rawData).finish(),
    holeBytes: WEIGHT_BYTES,
  };
}

function externalWeight(name: string, index: number, location: string): Part {
  const entries = { location, offset: String(index * WEIGHT_BYTES), length: String(WEIGHT_BYTES) };
  const proto = tensor(name, 'float32', [WIDTH, WIDTH], {
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: Object.entries(entries).map(([key, text]) => ({ key, value: text })),
  });
  return { bytes: new BinaryWriter().tag(5, 2).bytes(TensorProto.encode(proto).finish()).finish(), holeBytes: 0 };
}
