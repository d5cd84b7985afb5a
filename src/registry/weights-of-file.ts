import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Model } from '../onnx/model/model.js';

export interface WeightsOfFile {
  readonly path: string;
  /** SHA-256 in hexadecimal. Reads all files with weights, once. */
  readonly identity: () => Promise<string>;
}

export function weightsOfFile(path: string, { graph }: Model): WeightsOfFile {
  const file = resolve(path);
  const files = new Set([file]);
  for (const { data } of graph.initializers.values()) if (data.kind === 'file') files.add(data.path);
  const identify = async (): Promise<string> => {
    const hash = createHash('sha256');
    for (const one of files) {
      for await (const block of createReadStream(one)) hash.update(block as Uint8Array);
    }
    return hash.digest('hex');
  };
  let identity: Promise<string> | undefined;
  return { path: file, identity: () => (identity ??= identify()) };
}
