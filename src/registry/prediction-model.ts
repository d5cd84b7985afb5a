import { resolve } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { orThrow, resolveModel, type ResolvedModel } from '../manifest/index.js';
import { DISK } from '../manifest/files.js';
import type { ModelManifest } from '../manifest/model.js';
import { besideManifest } from '../manifest/reference.js';
import { type ImageSteps, sizeAfter } from '../manifest/steps.js';
import type { ElementType } from '../onnx/model/element-type.js';
import { fillRange, typedGraph } from '../onnx/values/fill-range.js';
import type { Fill, Graph } from '../onnx/model/model.js';
import { readModel } from '../onnx/read/read-model.js';
import { staticTypeOf } from '../onnx/model/static-type.js';
import type { OutputSteps } from '../manifest/output-steps.js';
import type { Postprocessor } from '../processing/postprocess.js';
import { readLabels } from '../processing/labels.js';
import { type LoadedModel, loadResolvedModel, writtenManifest, zooNames } from './load-model.js';

export interface PredictionInput {
  readonly name: string;
  readonly elementType: ElementType;
  /** Dimensions for a batch of one, or for the model's fixed batch size. */
  readonly dims: readonly number[];
  /** Whether the first dimension is a batch of any size. */
  readonly isBatched: boolean;
  /** Sizes of the dimensions that the model takes; undefined for any size. Without the batch where `isBatched`. */
  readonly sizes: readonly (number | undefined)[];
  readonly fill: Fill;
  /** How a picture becomes this input; undefined where its manifest has no steps. */
  readonly steps?: ImageSteps | undefined;
}

export interface PredictionModel {
  readonly name: string;
  readonly version: string;
  /** Its version and its framework, as its manifest writes them. */
  readonly manifest?: LoadedModel['manifest'];
  /** The ONNX file, with its weights; absolute. */
  readonly path: string;
  readonly inputs: readonly PredictionInput[];
  /** How outputs become features, by the outputs' names. Without any, the outputs themselves are the features. */
  readonly postprocessors: ReadonlyMap<string, Postprocessor>;
  /** Elements of every batch; undefined where a batch may have any size. */
  readonly fixedBatchSize: number | undefined;
}

/**
 * The model's only input, which pictures are converted to.
 *
 * @throws PlatformError `unsupported` where the model has further inputs, or its manifest no steps for pictures
 */
export function imageInputOf({ name, inputs }: PredictionModel): PredictionInput & { readonly steps: ImageSteps } {
  const [input] = inputs;
  if (input?.steps !== undefined && inputs.length === 1) return { ...input, steps: input.steps };
  const problem = inputs.length === 1 ? 'its manifest has no steps for its input' : `it has ${inputs.length} inputs`;
  throw new PlatformError('unsupported', `${name} cannot be given pictures: ${problem}; use a synthetic dataset`);
}

function nameOf(layer: string | number, names: readonly string[]): string {
  return typeof layer === 'number' ? (names[layer] ?? '') : layer;
}

function inputsOf(bound: Graph, asInFile: Graph, manifest: ModelManifest): readonly PredictionInput[] {
  const indexed = typedGraph(bound);
  return bound.inputs.map((name, index): PredictionInput => {
    const type = staticTypeOf(bound.types.get(name));
    if (type === undefined) throw new PlatformError('model', `input ${name} of ${manifest.name} has no static shape`);
    const symbol = asInFile.types.get(name)?.dims?.[0];
    const isBatched = typeof symbol === 'string' && !Object.hasOwn(manifest.dimensions, symbol) && type.dims[0] === 1;
    const declared = manifest.inputs.find(({ layer_name }) => nameOf(layer_name, bound.inputs) === name);
    const fill = { ...fillRange(indexed, name, type), seed: index + 1 };
    const inFile = asInFile.types.get(name)?.dims ?? type.dims;
    const sizes = inFile.map((size) => (typeof size === 'number' ? size : undefined));
    return { name, ...type, isBatched, sizes: isBatched ? sizes.slice(1) : sizes, fill, steps: declared?.steps };
  });
}

/**
 * The share of the input's width and height that one unit of a box's coordinates stands for.
 *
 * @throws PlatformError `manifest` where the unit is a pixel, and no input is a picture of a known size
 */
function unitOf({ inputs }: ModelManifest, isInPixels: boolean): { readonly x: number; readonly y: number } {
  if (!isInPixels) return { x: 1, y: 1 };
  const steps = inputs.find((input) => input.steps !== undefined)?.steps;
  const size = steps && sizeAfter(steps);
  if (size !== undefined) return { x: 1 / size.width, y: 1 / size.height };
  throw new PlatformError('manifest', 'boxes: coordinates in pixels need an input with steps, which say its size');
}

/** Names of the classes; undefined where their file is not fetched, because classes also have numbers. */
async function labelsOf(
  path: string,
  { downloads = [] }: ModelManifest,
  labels: string | undefined,
): Promise<readonly string[] | undefined> {
  if (labels === undefined) return undefined;
  const file = besideManifest(path, labels);
  const isFetched = downloads.some((download) => download.kind === 'labels' && download.path === labels);
  return isFetched && (await DISK.missing(file)) !== undefined ? undefined : readLabels(file);
}

async function postprocessorOf(path: string, manifest: ModelManifest, steps: OutputSteps): Promise<Postprocessor> {
  const labels = await labelsOf(path, manifest, steps.labels);
  if (steps.kind !== 'boxes') return { ...steps, labels };
  const { isInPixels, ...rest } = steps;
  return { ...rest, labels, unit: unitOf(manifest, isInPixels) };
}

async function postprocessorsOf(
  path: string,
  manifest: ModelManifest,
  names: readonly string[],
): Promise<ReadonlyMap<string, Postprocessor>> {
  const postprocessors = new Map<string, Postprocessor>();
  for (const { layer_name, steps } of manifest.outputs) {
    if (steps === undefined) continue;
    postprocessors.set(nameOf(layer_name, names), await postprocessorOf(path, manifest, steps));
  }
  return postprocessors;
}

/** The batch of an input of pictures is its first dimension. Other inputs of a fixed shape are one element. */
function fixedBatchSizeOf(inputs: readonly PredictionInput[]): number | undefined {
  if (inputs.some(({ isBatched }) => isBatched)) return undefined;
  return inputs.find(({ steps }) => steps !== undefined)?.dims[0] ?? 1;
}

/**
 * The file with the model's weights. A zoo model's missing file is made.
 *
 * @throws PlatformError `storage` where that fails
 */
async function fileOf({ source }: ResolvedModel): Promise<string> {
  if (source.kind !== 'zoo') return source.path;
  const { ensureZooModel } = await import('../zoo/cache.js');
  return ensureZooModel(source.name);
}

async function loadManifested(
  path: string,
  resolved: ResolvedModel,
  manifest: ModelManifest,
): Promise<PredictionModel> {
  const { model } = await loadResolvedModel(resolved, { batch: 1 });
  const file = await fileOf(resolved);
  const { graph } = await readModel(file);
  const inputs = inputsOf(model.graph, graph, manifest);
  return {
    name: manifest.name,
    version: manifest.version,
    manifest: writtenManifest(manifest),
    path: resolve(file),
    inputs,
    postprocessors: await postprocessorsOf(path, manifest, graph.outputs),
    fixedBatchSize: fixedBatchSizeOf(inputs),
  };
}

/**
 * Loads everything that predicting with a manifest's model needs, except the session.
 *
 * @param path of the model manifest
 * @throws PlatformError `manifest` where the manifest or its labels are wrong, else as `loadResolvedModel`
 */
export async function loadPredictionModel(path: string): Promise<PredictionModel> {
  const { model: resolved } = orThrow(await resolveModel(path, { zooNames }));
  const { manifest } = resolved;
  if (manifest === undefined) throw new PlatformError('usage', `${path} is not a model manifest`);
  try {
    return await loadManifested(path, resolved, manifest);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'manifest') throw error;
    throw new PlatformError('manifest', `${path}: ${error.message}`, { cause: error });
  }
}
