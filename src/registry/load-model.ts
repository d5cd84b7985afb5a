import { PlatformError } from '../base/errors.js';
import {
  ANY_FRAMEWORK,
  BATCH,
  formatNote,
  type FrameworkConstraint,
  graphBindings,
  inputValues,
  loadManifest,
  type ManifestIdentity,
  type ModelManifest,
  orThrow,
  type Problems,
  resolveModel,
  shippedManifest,
  type ResolvedModel,
  unmetByModel,
  verifyChecksum,
} from '../manifest/index.js';
import { isManifestPath } from '../manifest/reference.js';
import { type AssumedInput, assumedInputs, assumedSentence } from '../onnx/values/assumed-values.js';
import { type BoundDimension, boundDimensions } from '../onnx/layers/bound-dimensions.js';
import { bindDimensions, dimensionNames } from '../onnx/layers/bind-dimensions.js';
import { type GivenText, withGivenValues } from '../onnx/values/given-values.js';
import { missingConstants } from '../onnx/operators/steering.js';
import { hoistSubgraphWeights } from '../onnx/layers/hoist-subgraph-weights.js';
import { elementCount } from '../onnx/model/element-type.js';
import type { Model } from '../onnx/model/model.js';
import { staticTypeOf } from '../onnx/model/static-type.js';
import { readModel } from '../onnx/read/read-model.js';
import { missingSentence } from './missing-weights.js';
import { type WeightsOfFile, weightsOfFile } from './weights-of-file.js';

export interface LoadedModel {
  readonly name: string;
  readonly model: Model;
  /** The model as in its file, where the file leaves dimensions open; else undefined. */
  readonly open?: Model | undefined;
  /**
   * Its version and its framework, as its manifest writes them; undefined without a manifest. The framework is
   * undefined where the manifest accepts any.
   */
  readonly manifest?: { readonly version: string; readonly framework: FrameworkConstraint | undefined } | undefined;
  /** Which manifest it is of; undefined without a manifest. */
  readonly identity?: ManifestIdentity | undefined;
  /** Of its graph's file, which was checked; undefined where no manifest or lock file states it. */
  readonly sha256?: string | undefined;
  readonly symbols: readonly string[];
  readonly notes: readonly string[];
  /** Inputs whose made-up values may change the computation; none for a zoo model, whose values are right. */
  readonly assumed: readonly AssumedInput[];
  /** Sizes of the input dimensions that its file leaves open; for a zoo model, of those that the user gave. */
  readonly sizes: readonly BoundDimension[];
  /** Tokens that a run of a decoder with a cache reads, over the whole batch; undefined for other models. */
  readonly tokens?: number | undefined;
  /**
   * undefined where no file on this machine has them all: a zoo model's are made up, sent graphs have none, and a
   * file's may be missing.
   */
  readonly weights?: WeightsOfFile | undefined;
  /** Where its graph comes from; undefined for a graph that was sent. */
  readonly source?: ResolvedModel['source'] | undefined;
}

export interface RunningFramework {
  readonly framework: string;
  readonly frameworkVersion: string;
  /** Whether it runs models that ask for other versions of it. */
  readonly allowVersion: boolean;
}

export interface LoadOptions {
  readonly batch: number;
  /**
   * Sizes of other symbolic dimensions, which win over the manifest's. Names that the model does not have are ignored.
   */
  readonly dimensions?: ReadonlyMap<string, number> | undefined;
  /** Values of inputs, which win over the manifest's. Names that the model does not have are ignored. */
  readonly inputs?: ReadonlyMap<string, GivenText> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The framework that will run the model; without it, its manifest's requirements are not checked. */
  readonly runsOn?: RunningFramework | undefined;
  /** Where graphs come from; by default {@link readGraph}. */
  readonly readGraph?: typeof readGraph | undefined;
}

/** Loaded only for models of the zoo, because it is many files. */
const zoo = () => import('../zoo/zoo.js');

export async function zooNames(): Promise<readonly string[]> {
  return (await zoo()).ZOO.map(({ name }) => name);
}

/** The sizes of the dimensions: from the zoo, the batch size, the manifest and the user. A later source wins. */
async function bindingsOf({ manifest, source }: ResolvedModel, model: Model, options: LoadOptions) {
  const ofZoo = source.kind === 'zoo' ? Object.entries((await zoo()).zooEntry(source.name).dimensions) : [];
  const ofManifest = manifest === undefined ? [] : graphBindings(manifest, model, options.batch);
  return new Map<string, number>([...ofZoo, [BATCH, options.batch], ...ofManifest, ...(options.dimensions ?? [])]);
}

/**
 * Reads a graph from its file, or has the zoo build it, for which no weights are made or written. Where the manifest
 * has a checksum, the file is verified.
 *
 * @throws PlatformError as {@link loadResolvedModel}
 */
export async function readGraph({ source }: ResolvedModel, signal?: AbortSignal): Promise<Model> {
  if (source.kind === 'zoo') return (await zoo()).buildZooModel(source.name);
  if (source.checksum !== undefined) await verifyChecksum(source.path, source.checksum, signal);
  return readModel(source.path, { ownValues: 'optional' });
}

/** @throws PlatformError `model` where the file is invalid or a dimension stays open, `cancelled` after the signal */
export async function loadResolvedModel(resolved: ResolvedModel, options: LoadOptions): Promise<LoadedModel> {
  const { name } = resolved;
  const model = hoistSubgraphWeights(await (options.readGraph ?? readGraph)(resolved, options.signal));
  const missing = missingConstants(model.graph);
  const ofMissing = missing && missingSentence(missing, model);
  const symbols = dimensionNames(model);
  const bindings = [...(await bindingsOf(resolved, model, options))].filter(([symbol]) => symbols.includes(symbol));
  const isHere = options.readGraph === undefined && resolved.source.kind === 'file';
  const weights = isHere && missing === undefined ? weightsOfFile(resolved.source.path, model) : undefined;
  const bound = bindDimensions(model, new Map(bindings), { batch: options.batch });
  const ofManifest = resolved.manifest === undefined ? [] : inputValues(resolved.manifest, model);
  const given = await withGivenValues(bound, new Map([...ofManifest, ...(options.inputs ?? [])]));
  const isFile = resolved.source.kind === 'file';
  const assumed = isFile ? assumedInputs(given) : [];
  const sentences = [ofMissing, assumedSentence(assumed)];
  return {
    name,
    manifest: writtenManifest(resolved.manifest),
    identity: resolved.identity,
    sha256: sha256Of(resolved.source),
    symbols,
    notes: sentences.flatMap((sentence) => (sentence === undefined ? [] : [`${name}: ${sentence}`])),
    assumed,
    sizes: boundDimensions(model, bound).filter(({ name }) => isFile || options.dimensions?.has(name) === true),
    tokens: tokensOf(bound, symbols),
    weights,
    source: resolved.source,
    model: given,
    open: symbols.length > 0 ? model : undefined,
  };
}

function sha256Of(source: ResolvedModel['source']): string | undefined {
  const checksum = source.kind === 'file' ? source.checksum : undefined;
  return checksum?.algorithm === 'sha256' ? checksum.digest : undefined;
}

/** Exporters' names for the length of a decoder's cache of the tokens before. */
export const CACHE_SYMBOLS: readonly string[] = ['past', 'past_sequence_length', 'past_length'];

/** See {@link LoadedModel.tokens}: the elements of the first input of whole numbers with two dimensions. */
export function tokensOf({ graph }: Model, symbols: readonly string[]): number | undefined {
  if (!symbols.some((symbol) => CACHE_SYMBOLS.includes(symbol))) return undefined;
  const types = graph.inputs.flatMap((name) => staticTypeOf(graph.types.get(name)) ?? []);
  const ids = types.find(({ elementType, dims }) => /^int(32|64)$/.test(elementType) && dims.length === 2);
  return ids && elementCount(ids.dims);
}

export function writtenManifest(manifest: ModelManifest | undefined): LoadedModel['manifest'] {
  if (manifest === undefined) return undefined;
  const { version, framework, written } = manifest;
  return {
    version: written?.version ?? version,
    framework:
      framework === ANY_FRAMEWORK
        ? undefined
        : { name: written?.framework ?? framework.name, version: framework.version },
  };
}

/**
 * Checks that a framework meets a model's manifest. It is called before the model's other files are read.
 *
 * @throws PlatformError `unsupported` where the manifest asks for another framework or version
 */
export function requireFramework(
  { name, framework }: Pick<ModelManifest, 'name' | 'framework'>,
  running: RunningFramework,
): void {
  const unmet = unmetByModel(name, framework, running, running.allowVersion);
  if (unmet !== undefined) throw new PlatformError('unsupported', `${unmet.problem}; ${unmet.remedy}`);
}

function wrongReference(reference: string, { problems }: Problems): PlatformError {
  const lines = problems.map(({ expected, found }) => `${reference}: expected ${expected}, found ${found}`);
  return new PlatformError('usage', lines.join('\n'));
}

/**
 * Loads the model that a user names: a model manifest (.yml), an ONNX file (.onnx) or `zoo:NAME`.
 *
 * @throws PlatformError `usage` where the reference is wrong, `manifest` where the manifest is wrong, `unsupported`
 *   where the manifest asks for another framework, else as {@link loadResolvedModel}
 */
export async function loadModel(named: string, options: LoadOptions): Promise<LoadedModel> {
  const reference = shippedManifest(named);
  if (options.runsOn !== undefined && isManifestPath(reference)) {
    const read = await loadManifest(reference, ['model']);
    if (read.ok) requireFramework(read.manifest, options.runsOn);
  }
  const resolved = await resolveModel(reference, { zooNames });
  if (!resolved.ok && !isManifestPath(reference)) throw wrongReference(reference, resolved);
  const { model, notes } = orThrow(resolved);
  const loaded = await loadResolvedModel(model, options);
  return { ...loaded, notes: [...notes.map(formatNote), ...loaded.notes] };
}
