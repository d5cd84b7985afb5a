import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PlatformError } from '../base/errors.js';
import type { RunOptions } from '../measurement/system.js';
import { encodeExternal, encodeInline, type ExternalModel } from './encode-weights.js';
import type { FillableModel } from './materialize.js';
import type { ModelSource, OpenModel, Predictor } from './predictor.js';

const WEIGHTS_FILE = 'weights.bin';

export interface OpenFilledOptions {
  /** Where a model too large for one file may put its weights; must not exist. Removed when the model is closed. */
  readonly temporaryFolder: string;
  /** Largest model that is opened from memory, where not the predictor's own. */
  readonly inlineLimitBytes?: number;
}

function writeAt(file: number, block: Uint8Array, position: number): void {
  for (let done = 0; done < block.length;) done += writeSync(file, block, done, block.length - done, position + done);
}

function writeExternal(folder: string, { model, weights }: ExternalModel): string {
  mkdirSync(folder, { mode: 0o700 });
  const file = openSync(join(folder, WEIGHTS_FILE), 'wx');
  try {
    for (const { offset, blocks } of weights) {
      let position = offset;
      for (const block of blocks) {
        writeAt(file, block, position);
        position += block.length;
      }
    }
  } finally {
    closeSync(file);
  }
  const path = join(folder, 'model.onnx');
  writeFileSync(path, model);
  return path;
}

function writeExternalOrExplain(folder: string, model: ExternalModel): string {
  try {
    return writeExternal(folder, model);
  } catch (cause) {
    const problem = `the weights of a large model do not go into ${folder}: ${messageOf(cause)}`;
    throw new PlatformError('storage', `${problem}; free space there or set TMPDIR to another folder`, { cause });
  }
}

/** A complete model for a predictor, and what has to go when it is done with. */
interface FilledSource {
  readonly source: ModelSource;
  readonly remove: () => void;
}

function fill(
  fillable: FillableModel,
  predictor: Predictor,
  { temporaryFolder, inlineLimitBytes = predictor.inlineLimitBytes }: OpenFilledOptions,
): FilledSource {
  const bytes = encodeInline(fillable, inlineLimitBytes);
  if (bytes !== undefined) return { source: { kind: 'bytes', bytes }, remove: () => {} };
  const remove = (): void => rmSync(temporaryFolder, { recursive: true, force: true });
  try {
    const path = writeExternalOrExplain(temporaryFolder, encodeExternal(fillable, WEIGHTS_FILE));
    return { source: { kind: 'file', path }, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Fills the weights of a model and creates its session. Beside the runtime's own, one copy of the weights is in memory,
 * and only until the session is there.
 *
 * @throws PlatformError `storage` where the temporary folder cannot hold the weights, and what the predictor throws
 */
export async function openFilledModel(
  predictor: Predictor,
  fillable: FillableModel,
  runOptions: RunOptions,
  options: OpenFilledOptions,
): Promise<OpenModel> {
  const { source, remove } = fill(fillable, predictor, options);
  try {
    const model = await predictor.open(source, runOptions);
    return {
      prepare: (feeds) => model.prepare(feeds),
      async close() {
        await model.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Fills the weights of a model and has the framework optimize it.
 *
 * @param folder gets the optimized model
 * @returns the path of the optimized model
 * @throws as {@link openFilledModel}
 */
export async function optimizeFilledModel(
  predictor: Predictor,
  fillable: FillableModel,
  runOptions: RunOptions,
  { folder, ...options }: OpenFilledOptions & { readonly folder: string },
): Promise<string> {
  const { source, remove } = fill(fillable, predictor, options);
  try {
    return await predictor.optimize(source, runOptions, folder);
  } finally {
    remove();
  }
}
