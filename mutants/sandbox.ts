import { cp, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.js';

/** Folders that tests write to, or never read, and the joined files, which a defect in a module does not reach. */
const LEFT_OUT = new Set(['.git', 'lib', 'out']);

/**
 * A copy of the compiled program in a temporary folder, with links to the project's other files beside it. It is removed
 * when the process exits.
 */
export class Sandbox {
  private constructor(
    private readonly root: string,
    private readonly compiled: string,
  ) {}

  /** @param compiled the project's folder of compiled modules, by its name */
  static async create(compiled: string): Promise<Sandbox> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'mutants-')));
    process.once('exit', () => rmSync(root, { recursive: true, force: true }));
    for (const name of await readdir('.')) {
      if (name === compiled) await cp(name, join(root, name), { recursive: true });
      else if (!LEFT_OUT.has(name)) await symlink(resolve(name), join(root, name));
    }
    await mkdir(join(root, 'tmp'));
    return new Sandbox(root, compiled);
  }

  /** The copy's folder of compiled modules. */
  get folder(): string {
    return join(this.root, this.compiled);
  }

  /** The address of that folder, with a slash at its end. */
  get base(): string {
    return `${pathToFileURL(this.folder).href}/`;
  }

  /** The folder of the tests' temporary files. Tests that are ended leave them behind. */
  get temporary(): string {
    return join(this.root, 'tmp');
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
}
