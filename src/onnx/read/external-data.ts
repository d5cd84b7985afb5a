import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { StringStringEntryProto } from '../../generated/onnx/onnx.js';
import { codeOf, PlatformError } from '../../base/errors.js';
import type { TensorData } from '../model/model.js';
import { isInside } from '../../base/is-inside.js';
import { quoted } from '../../base/quoted.js';

/** For values in other files or nowhere: `optional` where made-up ones will do, `gone` where no file is looked for. */
export type OwnValues = 'needed' | 'optional' | 'gone';

interface DataFile {
  readonly path: string;
  readonly byteLength: number;
}

/**
 * Source: external_data in ONNX's onnx.proto. Files must be in the model's folder or below it, also after links are
 * followed, because a model from somebody else must not make this project read other files.
 */
export class ExternalData {
  readonly #folder: string;
  readonly #files = new Map<string, DataFile>();
  #open: { readonly path: string; readonly fd: number } | undefined;

  constructor(
    readonly source: string,
    modelPath: string,
    readonly use: OwnValues = 'needed',
  ) {
    this.#folder = resolve(dirname(modelPath));
  }

  /**
   * @param owner name of the tensor in messages
   * @param isOptional whether the file may be missing; then its name is returned
   * @throws PlatformError 'model' where the file is missing, too short, or outside of the model's folder
   */
  locate(
    entries: readonly StringStringEntryProto[],
    byteLength: number,
    owner: string,
    isOptional: boolean,
  ): (TensorData & { kind: 'file' }) | string {
    const values = new Map(entries.map(({ key, value }) => [key, value]));
    const location = values.get('location') ?? '';
    if (this.use === 'gone') return { kind: 'file', path: location, offset: 0, byteLength };
    const file = this.#files.get(location) ?? this.#find(location, owner, isOptional);
    if (file === undefined) return location;
    this.#files.set(location, file);
    const offset = this.#number(values.get('offset') ?? '0', 'offset', owner);
    const length = this.#number(values.get('length') ?? String(byteLength), 'length', owner);
    if (length !== byteLength) {
      throw this.#error(
        owner,
        `its shape takes ${byteLength} bytes, but its external data says ${length}`,
        EXPORT_AGAIN,
      );
    }
    if (offset + byteLength > file.byteLength) {
      const needed = `${byteLength} bytes from byte ${offset} of ${quoted(location)}`;
      throw this.#error(owner, `it needs ${needed}, which ends after ${file.byteLength}`, 'Copy the file again.');
    }
    return { kind: 'file', path: file.path, offset, byteLength };
  }

  read({ path, offset, byteLength }: TensorData & { kind: 'file' }): Uint8Array {
    const bytes = new Uint8Array(byteLength);
    const fd = this.#descriptor(path);
    for (let done = 0; done < byteLength;) {
      const count = readSync(fd, bytes, done, byteLength - done, offset + done);
      if (count === 0) throw new PlatformError('model', `${path} became shorter while it was read. Try again.`);
      done += count;
    }
    return bytes;
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  /** One file stays open, since neighbouring tensors are mostly in the same one. */
  #descriptor(path: string): number {
    if (this.#open?.path === path) return this.#open.fd;
    this.close();
    this.#open = { path, fd: openSync(path, 'r') };
    return this.#open.fd;
  }

  #find(location: string, owner: string, isOptional: boolean): DataFile | undefined {
    const path = resolve(this.#folder, location);
    if (location === '' || location.includes('\0') || isAbsolute(location) || !isInside(this.#folder, path)) {
      const problem = `its external data is in ${quoted(location)}, which is not a path inside the model's folder`;
      throw this.#error(owner, problem, EXPORT_AGAIN);
    }
    let real: string;
    try {
      real = realpathSync(path);
      if (!isInside(realpathSync(this.#folder), real)) {
        const problem = `its external data is in ${quoted(location)}, a link that leads out of the model's folder`;
        throw this.#error(owner, problem, "Put a copy of the file into the model's folder.");
      }
      const stats = statSync(real);
      if (stats.isFile()) return { path: real, byteLength: stats.size };
    } catch (error) {
      if (error instanceof PlatformError) throw error;
      if (isOptional && codeOf(error) === 'ENOENT') return undefined;
      const problem = `its external data is in ${quoted(location)}, which cannot be read from ${this.#folder}`;
      throw this.#error(owner, problem, 'Put the file that belongs to the model there.', error);
    }
    throw this.#error(owner, `its external data is in ${quoted(location)}, which is not a file`, EXPORT_AGAIN);
  }

  #number(text: string, key: string, owner: string): number {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (Number.isSafeInteger(value)) return value;
    throw this.#error(
      owner,
      `the ${key} of its external data is ${quoted(text)}, which is not a whole number`,
      EXPORT_AGAIN,
    );
  }

  #error(owner: string, problem: string, advice: string, cause?: unknown): PlatformError {
    return new PlatformError('model', `${this.source}: ${owner}: ${problem}. ${advice}`, { cause });
  }
}

const EXPORT_AGAIN = 'Export the model again.';
