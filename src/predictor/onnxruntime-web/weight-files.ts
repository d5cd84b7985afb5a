import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PlatformError } from '../../base/errors.js';
import { gigabytes } from '../../base/gigabytes.js';
import { ModelProto, TensorProto_DataLocation } from '../../generated/onnx/onnx.js';

const ADDRESSABLE_BYTES = 2 ** 32;

/** A system call reads less than 2 GB. */
const READ_BYTES = 2 ** 30;

export interface WeightFile {
  readonly path: string;
  readonly data: Uint8Array;
}

/** Source: external_data in the ONNX project's onnx.proto. */
function weightFileNames(model: Uint8Array): readonly string[] {
  const initializers = ModelProto.decode(model).graph?.initializer ?? [];
  const external = initializers.filter(({ dataLocation }) => dataLocation === TensorProto_DataLocation.EXTERNAL);
  const locations = external.flatMap(({ externalData }) => externalData.filter(({ key }) => key === 'location'));
  return [...new Set(locations.map(({ value }) => value))];
}

async function readWhole(path: string, byteLength: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(byteLength);
  const file = await open(path);
  try {
    for (let done = 0; done < byteLength;) {
      const { bytesRead } = await file.read(bytes, done, Math.min(byteLength - done, READ_BYTES), done);
      if (bytesRead === 0) throw new PlatformError('model', `${path} became shorter while it was read; try again`);
      done += bytesRead;
    }
  } finally {
    await file.close();
  }
  return bytes;
}

/** The runtime has no file system to find the files in. @throws PlatformError `unsupported` for too many bytes */
export async function readWeightFiles(model: Uint8Array, modelPath: string): Promise<WeightFile[]> {
  const names = weightFileNames(model);
  const elsewhere = names.find((name) => basename(name) !== name);
  if (elsewhere !== undefined) {
    throw new PlatformError('unsupported', `${modelPath}: its weights are in ${elsewhere}, not in a file beside it`);
  }
  const paths = names.map((name) => join(dirname(modelPath), name));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  if (totalBytes >= ADDRESSABLE_BYTES) {
    const problem = `out of memory: the weights take ${gigabytes(totalBytes)}`;
    throw new PlatformError('unsupported', `${problem}, and WebAssembly addresses ${ADDRESSABLE_BYTES / 1e9} GB`);
  }
  const files: WeightFile[] = [];
  for (const [index, path] of paths.entries()) {
    files.push({ path: basename(path), data: await readWhole(path, sizes[index] ?? 0) });
  }
  return files;
}
