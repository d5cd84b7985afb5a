import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Model } from '../onnx/model.js';

/** A model's own weights, where they are. */
export interface WeightsOfFile {
  /** The ONNX file. */
  readonly path: string;
  /** Changes with the files that hold them; 64 hexadecimal digits. */
  readonly identity: string;
}

/** Where the weights of a model are that was read from a file; told apart by the size and the time of each file. */
export async function weightsOfFile(path: string, { graph }: Model): Promise<WeightsOfFile> {
  const files = new Set([path]);
  for (const { data } of graph.initializers.values()) if (data.kind === 'file') files.add(data.path);
  const hash = createHash('sha256');
  for (const file of [...files].sort()) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`${JSON.stringify(file)} ${size} ${mtimeMs}\n`);
  }
  return { path: resolve(path), identity: hash.digest('hex') };
}
