import { mkdir, open, readdir, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { HOST } from '../base/atomic-file.js';
import { isRunning } from '../base/process-life.js';
import { makeFolder } from '../base/make-folder.js';

/** So that the rest of another content is never added to a part. */
const stateSchema = z.object({ url: z.string(), validator: z.string() });

export type PartState = Readonly<z.output<typeof stateSchema>>;

async function abandonedParts(file: string): Promise<readonly string[]> {
  const prefix = `.${basename(file)}.${HOST}.`;
  const names = await readdir(dirname(file));
  return names.filter((name) => {
    const pid = name.startsWith(prefix) && name.endsWith('.part') ? name.slice(prefix.length, -'.part'.length) : '';
    return /^\d+$/.test(pid) && (Number(pid) === process.pid || !isRunning(Number(pid)));
  });
}

/** A folder that one process owns. The next process takes over the content that an earlier one left. */
export class Part {
  private constructor(
    private readonly folder: string,
    readonly content: FileHandle,
  ) {}

  static async open(file: string): Promise<Part> {
    makeFolder(dirname(file));
    const own = join(dirname(file), `.${basename(file)}.${HOST}.${process.pid}.part`);
    for (const name of await abandonedParts(file)) {
      // Another process may be faster.
      await rename(join(dirname(file), name), own).catch(() => undefined);
    }
    await mkdir(own, { recursive: true });
    return new Part(own, await open(join(own, 'content'), 'a+'));
  }

  get path(): string {
    return join(this.folder, 'content');
  }

  async byteLength(): Promise<number> {
    return (await this.content.stat()).size;
  }

  async state(): Promise<PartState | undefined> {
    try {
      return stateSchema.parse(JSON.parse(await readFile(join(this.folder, 'state.json'), 'utf8')));
    } catch {
      return undefined;
    }
  }

  async restart(state: PartState | undefined): Promise<void> {
    await rm(join(this.folder, 'state.json'), { force: true });
    await this.content.truncate(0);
    if (state !== undefined) await writeFile(join(this.folder, 'state.json'), JSON.stringify(state));
  }

  async close(): Promise<void> {
    await this.content.close();
  }

  async finish(file: string): Promise<void> {
    await this.content.sync();
    await this.content.close();
    await rename(this.path, file);
    await rm(this.folder, { recursive: true, force: true });
  }

  async drop(): Promise<void> {
    await this.content.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
