import { PlatformError } from '../base/errors.js';
import { ANY_FRAMEWORK, type FrameworkConstraint } from '../manifest/fields.js';
import { BATCH, type ModelManifest } from '../manifest/model.js';
import { formatNote, orThrow, type Problems } from '../manifest/problem.js';
import { graphBindings } from '../manifest/graph-bindings.js';
import { inputValues } from '../manifest/input-values.js';
import { loadManifest } from '../manifest/load.js';
import type { ManifestIdentity } from '../manifest/identity.js';
import { resolveModel, type ResolvedModel } from '../manifest/resolve-model.js';
import { shippedManifest } from '../manifest/shipped-manifest.js';
import { unmetByModel } from '../manifest/requirements.js';
import { verifyChecksum } from '../manifest/checksum.js';
import { isManifestPath } from '../manifest/reference.js';
import { type AssumedInput, assumedInputs, assumedSentence } from '../onnx/values/assumed-values.js';
import {
  bindDimensions,
  type BoundDimension,
  boundDimensions,
  dimensionNames,
} from '../onnx/layers/bind-dimensions.js';
import { type GivenText, withGivenValues } from '../onnx/values/given-values.js';
import { missingConstants } from '../onnx/operators/steering.js';
import { hoistSubgraphWeights } from '../onnx/layers/hoist-subgraph-weights.js';
import { elementCount } from '../onnx/model/element-type.js';
import type { Model } from '../onnx/model/model.js';
import { findStaticType } from '../onnx/model/static-type.js';
import { readModel } from '../onnx/read/read-model.js';
import { missingSentence } from './missing-weights.js';
import { type WeightsOfFile, weightsOfFile } from './weights-of-file.js';

export interface LoadedModel {
  readonly name: string;
  readonly model: Model;
  /** As in its file, where the file leaves dimensions open. */
  readonly open?: Model | undefined;
  /** As its manifest writes them. The framework is undefined where the manifest accepts any. */
  readonly manifest?: { readonly version: string; readonly framework: FrameworkConstraint | undefined } | undefined;
  readonly identity?: ManifestIdentity | undefined;
  /** Of its graph's file, which was checked. */
  readonly sha256?: string | undefined;
  readonly symbols: readonly string[];
  readonly notes: readonly string[];
  /** Inputs whose made-up values may change the computation; none for a zoo model. */
  readonly assumed: readonly AssumedInput[];
  /** Sizes of open input dimensions; for a zoo model, of those that the user gave. */
  readonly sizes: readonly BoundDimension[];
  /** Of one run of a decoder with a cache, over the whole batch. */
  readonly tokens?: number | undefined;
  /** Undefined where no file on this machine has them all. */
  readonly weights?: WeightsOfFile | undefined;
  /** As the user named it on a command line. */
  readonly reference?: string | undefined;
  /** Undefined for a graph that was sent. */
  readonly source?: ResolvedModel['source'] | undefined;
}

/** The size of the batch; undefined where the model fixes it, or has none. */
export function changeableBatch({ model, open }: Pick<LoadedModel, 'model' | 'open'>): number | undefined {
  const isOpen = (name: string): boolean => typeof open?.graph.types.get(name)?.dims?.[0] === 'string';
  const batch = model.graph.types.get(open?.graph.inputs.find(isOpen) ?? '')?.dims?.[0];
  return typeof batch === 'number' ? batch : undefined;
}

export interface RunningFramework {
  readonly framework: string;
  readonly frameworkVersion: string;
  readonly allowVersion: boolean;
}

export interface SizeOptions {
  readonly batch: number;
  /** Of symbolic dimensions; they win over the manifest's. Names that the model does not have are ignored. */
  readonly dimensions?: ReadonlyMap<string, number> | undefined;
  /** They win over the manifest's. Names that the model does not have are ignored. */
  readonly inputs?: ReadonlyMap<string, GivenText> | undefined;
}

export interface ReadingOptions {
  readonly signal?: AbortSignal | undefined;
  /** Without it, the manifest's framework is not checked. */
  readonly runsOn?: RunningFramework | undefined;
  readonly readGraph?: typeof readGraph | undefined;
}

export type LoadOptions = SizeOptions & ReadingOptions;

/** A model that was read once. @throws PlatformError `model` for a dimension that stays open */
export type SizedModel = (sizes: SizeOptions) => Promise<LoadedModel>;

/** Many files: loaded only for its own models. */
const zoo = () => import('../zoo/zoo.js');

export async function zooNames(): Promise<readonly string[]> {
  return (await zoo()).ZOO.map(({ name }) => name);
}

/** A later source wins. */
async function computeBindings({ manifest, source }: ResolvedModel, model: Model, options: SizeOptions) {
  const ofZoo = source.kind === 'zoo' ? Object.entries((await zoo()).zooEntry(source.name).dimensions) : [];
  const ofManifest = manifest === undefined ? [] : graphBindings(manifest, model, options.batch);
  return new Map<string, number>([...ofZoo, [BATCH, options.batch], ...ofManifest, ...(options.dimensions ?? [])]);
}

/** Verifies a manifest's checksum. A zoo model gets no weights. @throws PlatformError as {@link loadResolvedModel} */
export async function readGraph({ source }: ResolvedModel, signal?: AbortSignal): Promise<Model> {
  if (source.kind === 'zoo') return (await zoo()).buildZooModel(source.name);
  if (source.checksum !== undefined) await verifyChecksum(source.path, source.checksum, signal);
  return readModel(source.path, { ownValues: 'optional', signal });
}

/** @throws PlatformError `model` for an invalid file or a dimension that stays open, `cancelled` after the signal */
export async function loadResolvedModel(resolved: ResolvedModel, options: LoadOptions): Promise<LoadedModel> {
  return (await readResolvedModel(resolved, options))(options);
}

async function readResolvedModel(resolved: ResolvedModel, options: ReadingOptions): Promise<SizedModel> {
  const { name, source } = resolved;
  const model = hoistSubgraphWeights(await (options.readGraph ?? readGraph)(resolved, options.signal));
  const missing = missingConstants(model.graph);
  const ofMissing = missing && missingSentence(missing, model);
  const symbols = dimensionNames(model);
  const isFile = source.kind === 'file';
  const isHere = options.readGraph === undefined && missing === undefined;
  const weights = isFile && isHere ? weightsOfFile(source.path, model) : undefined;
  const checksum = isFile ? source.checksum : undefined;
  return async ({ batch, dimensions, inputs = [] }) => {
    const bindings = [...(await computeBindings(resolved, model, { batch, dimensions }))];
    const bound = bindDimensions(model, new Map(bindings.filter(([symbol]) => symbols.includes(symbol))), { batch });
    const ofManifest = resolved.manifest === undefined ? [] : inputValues(resolved.manifest, model);
    const given = await withGivenValues(bound, new Map([...ofManifest, ...inputs]));
    const assumed = isFile ? assumedInputs(given) : [];
    const sentences = [ofMissing, assumedSentence(assumed)];
    return {
      name,
      manifest: writtenManifest(resolved.manifest),
      identity: resolved.identity,
      sha256: checksum?.algorithm === 'sha256' ? checksum.digest : undefined,
      symbols,
      notes: sentences.flatMap((sentence) => (sentence === undefined ? [] : [`${name}: ${sentence}`])),
      assumed,
      sizes: boundDimensions(model, bound).filter(({ name }) => isFile || dimensions?.has(name) === true),
      tokens: countTokens(bound, symbols),
      weights,
      source,
      model: given,
      open: symbols.length > 0 ? model : undefined,
    };
  };
}

/** Exporters' names for the tokens in a decoder's cache. */
export const CACHE_SYMBOLS: readonly string[] = ['past', 'past_sequence_length', 'past_length'];

/** The elements of the first input of whole numbers with two dimensions. */
export function countTokens({ graph }: Model, symbols: readonly string[]): number | undefined {
  if (!symbols.some((symbol) => CACHE_SYMBOLS.includes(symbol))) return undefined;
  const types = graph.inputs.flatMap((name) => findStaticType(graph.types.get(name)) ?? []);
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

/** @throws PlatformError `unsupported` where the manifest asks for another framework or version */
export function requireFramework(
  { name, framework }: Pick<ModelManifest, 'name' | 'framework'>,
  running: RunningFramework,
): void {
  const unmet = unmetByModel(name, framework, running, running.allowVersion);
  if (unmet !== undefined) throw new PlatformError('unsupported', `${unmet.problem}; ${unmet.remedy}`);
}

function wrongReference(reference: string, { problems }: Problems): PlatformError {
  if (reference.startsWith('--')) {
    return new PlatformError('usage', `${reference} is behind --, where models are named; write options before --`);
  }
  const lines = problems.map(({ expected, found }) => `${reference}: expected ${expected}, found ${found}`);
  return new PlatformError('usage', lines.join('\n'));
}

/** @throws PlatformError `usage` for a wrong reference, `manifest` for a wrong manifest */
export async function resolveReference(reference: string) {
  const resolved = await resolveModel(reference, { zooNames });
  if (!resolved.ok && !isManifestPath(reference)) throw wrongReference(reference, resolved);
  return orThrow(resolved);
}

/**
 * @param named a model manifest (.yml), an ONNX file (.onnx) or `zoo:NAME`
 * @throws PlatformError `usage` for a wrong reference, `manifest` for a wrong manifest, `unsupported` where it asks for
 *   another framework, else as {@link loadResolvedModel}
 */
export async function readSizedModel(named: string, options: ReadingOptions): Promise<SizedModel> {
  const reference = shippedManifest(named);
  if (options.runsOn !== undefined && isManifestPath(reference)) {
    const read = await loadManifest(reference, ['model']);
    if (read.ok) requireFramework(read.manifest, options.runsOn);
  }
  const { model, notes } = await resolveReference(reference);
  const sized = await readResolvedModel(model, options);
  return async (sizes) => {
    const loaded = await sized(sizes);
    return { ...loaded, notes: [...notes.map(formatNote), ...loaded.notes] };
  };
}

/** @throws PlatformError as {@link readSizedModel} */
export async function loadModel(named: string, options: LoadOptions): Promise<LoadedModel> {
  return (await readSizedModel(named, options))(options);
}
