import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Model } from '../onnx/model/model.js';

export interface WeightsOfFile {
  readonly path: string;
  /** SHA-256 of the files with the weights, 64 hexadecimal digits. It reads all of these files. */
  readonly identity: () => Promise<string>;
}

export function weightsOfFile(path: string, { graph }: Model): WeightsOfFile {
  const file = resolve(path);
  const files = new Set([file]);
  for (const { data } of graph.initializers.values()) if (data.kind === 'file') files.add(data.path);
  const identity = async (): Promise<string> => {
    const hash = createHash('sha256');
    for (const one of files) {
      for await (const block of createReadStream(one)) hash.update(block as Uint8Array);
    }
    return hash.digest('hex');
  };
  return { path: file, identity };
}
