import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateJson } from '../mutate/document.js';
import { mutateText } from '../mutate/text.js';
import type { Random } from '../random.js';
import { readOrRefused, type Target } from './target.js';

interface JsonFile {
  readonly name: string;
  readonly seeds: () => Promise<readonly unknown[]>;
  /** Writes the other files of the folder. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly read: (path: string, folder: string) => Promise<unknown>;
}

export function mutatedJson(input: Uint8Array, random: Random): Uint8Array {
  if (random.oneIn(10)) return mutateBytes(input, random);
  const text = Buffer.from(input).toString();
  const changed = random.oneIn(10) ? undefined : mutateJson(text, random);
  return Buffer.from(changed ?? mutateText(text, random));
}

export function jsonTarget({ name, seeds, prepare, read }: JsonFile): Target {
  const prepared = new Set<string>();
  return {
    name,
    seeds: async () => (await seeds()).map((seed) => Buffer.from(JSON.stringify(seed))),
    mutate: mutatedJson,
    async check(input, folder) {
      if (!prepared.has(folder)) await prepare?.(folder);
      prepared.add(folder);
      const path = join(folder, `${name}.json`);
      await writeFile(path, input);
      return readOrRefused(() => read(path, folder), path);
    },
  };
}
