import { resolve } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { orThrow } from '../manifest/problem.js';
import { resolveModel, type ResolvedModel } from '../manifest/resolve-model.js';
import { DISK } from '../manifest/files.js';
import type { ModelManifest } from '../manifest/model.js';
import { besideManifest } from '../manifest/reference.js';
import { type ImageSteps, sizeAfter } from '../manifest/steps.js';
import type { ElementType } from '../onnx/model/element-type.js';
import { fillRange, typedGraph } from '../onnx/values/fill-range.js';
import type { Fill, Graph } from '../onnx/model/model.js';
import { readModel } from '../onnx/read/read-model.js';
import { findStaticType } from '../onnx/model/static-type.js';
import type { OutputSteps } from '../manifest/output-steps.js';
import type { Postprocessor } from '../processing/postprocess.js';
import { readLabels } from '../processing/labels.js';
import { type LoadedModel, loadResolvedModel, writtenManifest, zooNames } from './load-model.js';

export interface PredictionInput {
  readonly name: string;
  readonly elementType: ElementType;
  /** For a batch of one, or for the model's fixed batch size. */
  readonly dims: readonly number[];
  /** The first dimension is a batch of any size. */
  readonly isBatched: boolean;
  /** Undefined for any size. Without the batch where `isBatched`. */
  readonly sizes: readonly (number | undefined)[];
  readonly fill: Fill;
  /** Undefined where the manifest has no steps from a picture. */
  readonly steps?: ImageSteps | undefined;
}

export interface PredictionModel {
  readonly name: string;
  readonly version: string;
  readonly manifest?: LoadedModel['manifest'];
  /** Absolute; the file has weights. */
  readonly path: string;
  readonly inputs: readonly PredictionInput[];
  /** From outputs, by their names, to features. */
  readonly postprocessors: ReadonlyMap<string, Postprocessor>;
  /** Undefined where a batch may have any size. */
  readonly fixedBatchSize: number | undefined;
}

function nameOf(layer: string | number, names: readonly string[]): string {
  return typeof layer === 'number' ? (names[layer] ?? '') : layer;
}

function listInputs(bound: Graph, asInFile: Graph, manifest: ModelManifest): readonly PredictionInput[] {
  const indexed = typedGraph(bound);
  return bound.inputs.map((name, index): PredictionInput => {
    const type = findStaticType(bound.types.get(name));
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

/** The share of width and height in a unit. @throws PlatformError `manifest` for pixels without a known size */
function computeUnit({ inputs }: ModelManifest, isInPixels: boolean): { readonly x: number; readonly y: number } {
  if (!isInPixels) return { x: 1, y: 1 };
  const steps = inputs.find((input) => input.steps !== undefined)?.steps;
  const size = steps && sizeAfter(steps);
  if (size !== undefined) return { x: 1 / size.width, y: 1 / size.height };
  throw new PlatformError('manifest', 'boxes: coordinates in pixels need an input with steps, which say its size');
}

/** Undefined where their file is not fetched: classes also have numbers. */
async function loadLabels(
  path: string,
  { downloads = [] }: ModelManifest,
  labels: string | undefined,
): Promise<readonly string[] | undefined> {
  if (labels === undefined) return undefined;
  const file = besideManifest(path, labels);
  const isFetched = downloads.some((download) => download.kind === 'labels' && download.path === labels);
  return isFetched && (await DISK.missing(file)) !== undefined ? undefined : readLabels(file);
}

async function makePostprocessor(path: string, manifest: ModelManifest, steps: OutputSteps): Promise<Postprocessor> {
  const labels = await loadLabels(path, manifest, steps.labels);
  if (steps.kind !== 'boxes') return { ...steps, labels };
  const { isInPixels, ...rest } = steps;
  return { ...rest, labels, unit: computeUnit(manifest, isInPixels) };
}

async function makePostprocessors(
  path: string,
  manifest: ModelManifest,
  names: readonly string[],
): Promise<ReadonlyMap<string, Postprocessor>> {
  const postprocessors = new Map<string, Postprocessor>();
  for (const { layer_name, steps } of manifest.outputs) {
    if (steps === undefined) continue;
    postprocessors.set(nameOf(layer_name, names), await makePostprocessor(path, manifest, steps));
  }
  return postprocessors;
}

/** The first dimension of pictures. Other inputs of a fixed shape are one element. */
function findFixedBatchSize(inputs: readonly PredictionInput[]): number | undefined {
  if (inputs.some(({ isBatched }) => isBatched)) return undefined;
  return inputs.find(({ steps }) => steps !== undefined)?.dims[0] ?? 1;
}

/** Makes a zoo model's missing file. @throws PlatformError `storage` where that fails */
async function findFile({ source }: ResolvedModel): Promise<string> {
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
  const file = await findFile(resolved);
  const { graph } = await readModel(file);
  const inputs = listInputs(model.graph, graph, manifest);
  return {
    name: manifest.name,
    version: manifest.version,
    manifest: writtenManifest(manifest),
    path: resolve(file),
    inputs,
    postprocessors: await makePostprocessors(path, manifest, graph.outputs),
    fixedBatchSize: findFixedBatchSize(inputs),
  };
}

/** @throws PlatformError `manifest` where the manifest or its labels are wrong, else as `loadResolvedModel` */
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
