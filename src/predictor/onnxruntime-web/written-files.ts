import { closeSync, openSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Larger than the descriptors of Emscripten and the operating system, and not the address of anything. */
const FIRST_DESCRIPTOR = 2_000_000_003;

interface WrittenFile {
  readonly fd: number;
  position: number;
}

/** All files are in one folder, independent of the folders in their paths. */
export class WrittenFiles {
  readonly #files = new Map<number, WrittenFile>();
  #made = 0;
  #failure: unknown;

  constructor(readonly folder: string) {}

  /** The first error of the disk, which the runtime does not report. */
  get failure(): unknown {
    return this.#failure;
  }

  has(descriptor: number): boolean {
    return this.#files.has(descriptor);
  }

  create(path: string): number | undefined {
    return this.#attempt(() => {
      const descriptor = FIRST_DESCRIPTOR + this.#made++;
      this.#files.set(descriptor, { fd: openSync(join(this.folder, basename(path)), 'w', 0o600), position: 0 });
      return descriptor;
    });
  }

  write(descriptor: number, bytes: Uint8Array): boolean {
    const file = this.#files.get(descriptor);
    if (file === undefined) return false;
    const written = this.#attempt(() => {
      for (let done = 0; done < bytes.length;) {
        const count = writeSync(file.fd, bytes, done, bytes.length - done, file.position);
        done += count;
        file.position += count;
      }
      return bytes.length;
    });
    return written !== undefined;
  }

  seek(descriptor: number, offset: number, from: 'position' | 'beginning'): number | undefined {
    const file = this.#files.get(descriptor);
    if (file === undefined) return undefined;
    const position = from === 'beginning' ? offset : file.position + offset;
    if (position < 0) return undefined;
    return (file.position = position);
  }

  close(descriptor: number): void {
    const file = this.#files.get(descriptor);
    this.#files.delete(descriptor);
    if (file !== undefined) this.#attempt(() => closeSync(file.fd));
  }

  closeAll(): void {
    for (const descriptor of [...this.#files.keys()]) this.close(descriptor);
  }

  #attempt<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      this.#failure ??= error;
      return undefined;
    }
  }
}
