import { closeSync, ftruncateSync, mkdirSync, openSync, realpathSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, PlatformError } from '../base/errors.js';
import { maxOf } from '../base/long-lists.js';
import type { RunOptions } from '../measurement/system.js';
import { tensorBytes } from '../onnx/model/element-type.js';
import { aliasedModel, encodeExternal, encodeInline, encodeInPlace, type ExternalModel } from './encode-weights.js';
import { type FillableModel, type FillableWeight } from './materialize.js';
import { fitsInMemory, inMemory } from './memory-folder.js';
import type { ModelSource, OpenModel, OptimizeOptions, Predictor } from './predictor.js';
import type { MappedFile } from './mapped-ranges.js';
import { removeWhenMapped } from './remove-when-mapped.js';

const WEIGHTS_FOLDER = 'weights';

export interface OpenFilledOptions {
  /** For weights that do not fit into memory. The files are removed when the model is open. */
  readonly temporaryFolder: string;
  readonly inlineLimitBytes?: number;
}

function writeAt(file: number, block: Uint8Array, position: number): void {
  for (let done = 0; done < block.length;) done += writeSync(file, block, done, block.length - done, position + done);
}

function writeExternal(folder: string, { model, files }: ExternalModel): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { name, byteLength, pieces } of files) {
    const file = openSync(join(folder, name), 'wx', 0o600);
    try {
      ftruncateSync(file, byteLength);
      for (const { offset, blocks } of pieces) {
        let position = offset;
        for (const block of blocks) {
          writeAt(file, block, position);
          position += block.length;
        }
      }
    } finally {
      closeSync(file);
    }
  }
  const path = join(folder, 'model.onnx');
  writeFileSync(path, model, { mode: 0o600 });
  return path;
}

interface FilledSource {
  readonly source: ModelSource;
  readonly weightsFiles?: readonly MappedFile[];
  readonly remove: () => void;
}

/** From this size on, weights are in files. */
const MIN_MAPPED_BYTES = 16 * 2 ** 20;

/** In memory, each weight from this size on has a file of its own, which is removed when the runtime has a copy. */
const OWN_FILE_BYTES = 2 ** 20;

function inFiles(folder: string, model: ExternalModel): FilledSource {
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    return { source: { kind: 'file', path: writeExternal(folder, model) }, remove };
  } catch (cause) {
    remove();
    const problem = `the weights of a large model cannot be written to ${folder}: ${messageOf(cause)}`;
    throw new PlatformError('storage', `${problem}; free space there or set TMPDIR to another folder`, { cause });
  }
}

/** Refers to weights in files beside the model's own; undefined without such weights, or past the limit. */
function inPlace({ path, ...fillable }: FillableModel, limitBytes: number): FilledSource | undefined {
  const isBeside = ({ data }: FillableWeight): boolean => data !== undefined && data.path !== path;
  if (path === undefined || !fillable.weights.some(isBeside)) return undefined;
  // Links are followed here, because they are also followed where the weights are located.
  const weightsFolder = realpathSync(dirname(path));
  const bytes = encodeInPlace(fillable, { isBeside, folder: weightsFolder, limitBytes });
  return bytes && { source: { kind: 'bytes', bytes, weightsFolder }, remove: () => {} };
}

function fill(
  fillable: FillableModel,
  predictor: Predictor,
  { temporaryFolder, inlineLimitBytes = predictor.inlineLimitBytes }: OpenFilledOptions,
): FilledSource {
  const ownFiles = predictor.mapsWeightFiles ? inPlace(fillable, inlineLimitBytes) : undefined;
  if (ownFiles !== undefined) return ownFiles;
  const weightBytes = fillable.weights.reduce((sum, weight) => sum + tensorBytes(weight), 0);
  if (predictor.mapsWeightFiles && weightBytes >= MIN_MAPPED_BYTES && fitsInMemory(weightBytes)) {
    const folder = inMemory(temporaryFolder);
    const model = encodeExternal(fillable, OWN_FILE_BYTES);
    const weightsFiles = model.files.map(({ name, byteLength }) => ({ path: join(folder, name), byteLength }));
    return { ...inFiles(folder, model), weightsFiles };
  }
  const bytes = encodeInline(fillable, inlineLimitBytes);
  if (bytes !== undefined) return { source: { kind: 'bytes', bytes }, remove: () => {} };
  return inFiles(join(temporaryFolder, WEIGHTS_FOLDER), encodeExternal(fillable));
}

/**
 * Weights in files beside the model's own are not copied. One copy of the others is in memory; on Linux it is removed
 * when the runtime has its own.
 *
 * @throws PlatformError `storage` where the temporary folder cannot hold the weights, and the predictor's errors
 */
export async function openFilledModel(
  predictor: Predictor,
  fillable: FillableModel,
  runOptions: RunOptions,
  options: OpenFilledOptions,
): Promise<OpenModel> {
  const { source, weightsFiles = [], remove } = fill(fillable, predictor, options);
  let endWatch: (() => Promise<unknown>) | undefined;
  try {
    endWatch = await removeWhenMapped(weightsFiles);
    return await predictor.open(source, runOptions);
  } finally {
    await endWatch?.();
    remove();
  }
}

function sourceToOptimize(fillable: FillableModel, predictor: Predictor, options: OpenFilledOptions): FilledSource {
  if (!predictor.mapsWeightFiles) return fill(fillable, predictor, options);
  const model = aliasedModel(fillable);
  const { temporaryFolder } = options;
  const bytes = Math.max(0, maxOf(model.files.map(({ byteLength }) => byteLength)));
  return inFiles(join(fitsInMemory(bytes) ? inMemory(temporaryFolder) : temporaryFolder, WEIGHTS_FOLDER), model);
}

/** @param keepsValues whether the optimized model will run @throws as {@link openFilledModel} */
export async function optimizeFilledModel(
  predictor: Predictor,
  fillable: FillableModel,
  runOptions: RunOptions,
  {
    folder,
    keepsWeights,
    keepsValues = false,
    ...options
  }: OpenFilledOptions & OptimizeOptions & { readonly folder: string; readonly keepsValues?: boolean },
): Promise<string> {
  const { source, remove } = keepsValues
    ? fill(fillable, { ...predictor, mapsWeightFiles: false }, options)
    : sourceToOptimize(fillable, predictor, options);
  try {
    return await predictor.optimize(source, runOptions, folder, { keepsWeights });
  } finally {
    remove();
  }
}
