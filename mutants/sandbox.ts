import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.js';

/** A copy of the compiled program, beside it so that its tests find the project's files. */
export class Sandbox {
  private constructor(readonly folder: string) {}

  static async create(compiled: string, number: number): Promise<Sandbox> {
    const folder = resolve(`${compiled}-mutants-${number}`);
    await rm(folder, { recursive: true, force: true });
    await cp(compiled, folder, { recursive: true });
    return new Sandbox(folder);
  }

  /** The folder's address, with a slash at its end. */
  get base(): string {
    return `${pathToFileURL(this.folder).href}/`;
  }

  /** Does something while the copy has the mutant's defect. */
  async with<T>({ module, text }: Mutant, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, module);
    const right = await readFile(path);
    await writeFile(path, text);
    try {
      return await work();
    } finally {
      await writeFile(path, right);
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
