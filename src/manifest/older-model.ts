import semver from 'semver';
import { ownValue } from '../base/own-value.js';
import { quoted } from '../base/quoted.js';
import type { Dimension } from '../onnx/model/model.js';
import { type ManifestDocument, nodeAt, noteAt, noteAtKey } from './document.js';
import type { Download } from './fetched-files.js';
import { ANY_FRAMEWORK } from './fields.js';
import {
  BATCH,
  type ModelInput,
  type ModelManifest,
  type ModelOutput,
  type ModelTensor,
  type PublishedParts,
} from './model.js';
import { buildDownload, locateFiles } from './older-files.js';
import {
  checksumField,
  CODE_KEYS,
  LAYER_KEY,
  olderElementType,
  type OlderModel,
  olderModelSchema,
  type OlderTensor,
} from './older-schema.js';
import { layOut, olderClassSteps, type OlderImage, olderImageSteps } from './older-steps.js';
import { byPosition, type Loaded, type Note, type Problems } from './problem.js';
import { isUrl } from './reference.js';
import { type IgnoredKey, validateKnownKeys } from './validate.js';
import type { YamlPath } from './yaml-tree.js';

// Model manifests of MLModelScope before DLSpec (c3sr/dlframework: builtin_models/*.yml). Scalars are read as text:
// versions are written as 1.0 and 1.10, and every parameter is a text on the wire.

/** Images in these manifests have no batch dimension. */
function withBatch({ type, parameters }: OlderTensor): readonly Dimension[] | undefined {
  const { dimensions } = parameters;
  return type === 'image' && dimensions?.length === 3 ? [BATCH, ...layOut(dimensions, parameters)] : dimensions;
}

/** One entry may name several layers: the boxes, classes and probabilities of a detector, for example. */
function convertTensors(tensor: OlderTensor, index: number): readonly ModelTensor[] {
  const { parameters } = tensor;
  const layers = Object.entries(parameters).filter(([key]) => LAYER_KEY.test(key));
  const names = layers.length === 0 ? [String(index)] : layers.map(([, name]) => String(name));
  return names.map((name) => ({
    layer_name: /^\d+$/.test(name) ? Number(name) : name,
    element_type: olderElementType(parameters.element_type ?? ''),
    // With several layers, the dimensions have no clear owner.
    dimensions: names.length === 1 ? withBatch(tensor) : undefined,
  }));
}

function hasCode(older: OlderModel, when: 'preprocess' | 'postprocess'): boolean {
  return CODE_KEYS.some((key) => key.endsWith(when) && (older[key] ?? '') !== '');
}

/** undefined where the input takes no pictures, or where the manifest's code makes it */
function convertImage(older: OlderModel, { type, parameters }: OlderTensor): OlderImage | undefined {
  if (type !== 'image' || hasCode(older, 'preprocess')) return undefined;
  const { dimensions, element_type } = parameters;
  const [first, ...rest] = dimensions ?? [];
  const sizes = first === BATCH || rest.length === 3 ? rest : dimensions;
  return olderImageSteps(parameters, sizes, olderElementType(element_type ?? 'float32'));
}

function convertInputs(older: OlderModel): readonly ModelInput[] {
  return older.inputs.flatMap((input, index): readonly ModelInput[] => {
    const tensors = convertTensors(input, index);
    const image = tensors.length === 1 ? convertImage(older, input) : undefined;
    return image !== undefined && 'steps' in image ? tensors.map((tensor) => ({ ...tensor, ...image })) : tensors;
  });
}

function outputTensorsOf({ output, outputs }: OlderModel): readonly OlderTensor[] {
  return outputs ?? (output === undefined ? [] : [output]);
}

/** Its own, or else those of the model. */
function findLabels({ model }: OlderModel, { parameters }: OlderTensor) {
  const textAt = (key: string): string => {
    const value = ownValue(parameters, key);
    return typeof value === 'string' ? value.trim() : '';
  };
  const own = textAt('features_path') || textAt('features_url');
  const checksum = checksumField.safeParse(textAt('features_checksum')).data;
  const address = own === '' ? (model.features_path ?? '') : own;
  const download = buildDownload('labels', address, own === '' ? model.features_checksum : checksum);
  return { path: download?.path ?? (address === '' || isUrl(address) ? undefined : address), download };
}

function convertOutputs(older: OlderModel): readonly ModelOutput[] {
  return outputTensorsOf(older).flatMap((tensor, index): readonly ModelOutput[] => {
    const tensors = convertTensors(tensor, index);
    const isClasses = tensor.type === 'classification' && tensors.length === 1 && !hasCode(older, 'postprocess');
    if (!isClasses) return tensors;
    const steps = olderClassSteps(tensor.parameters, findLabels(older, tensor).path);
    return tensors.map((one) => ({ ...one, steps }));
  });
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : `[${value.join(',')}]`;
}

function parameterText(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(parameterText).join(',')}]` : String(value);
}

function publishedType({ type, description, parameters }: OlderTensor): PublishedParts['inputs'][number] {
  const texts = Object.entries(parameters).map(([key, value]) => [key, { value: parameterText(value) }] as const);
  return { type, description: description ?? '', parameters: Object.fromEntries(texts) };
}

/** The registry takes only one output. */
function publishedParts(older: OlderModel): PublishedParts {
  const { model } = older;
  const [output] = outputTensorsOf(older);
  return {
    inputs: older.inputs.map(publishedType),
    output: output && publishedType(output),
    model: {
      baseUrl: model.base_url ?? '',
      graphPath: model.graph_path ?? '',
      weightsPath: model.weights_path ?? '',
      isArchive: model.is_archive ?? false,
      graphChecksum: model.graph_checksum?.digest ?? '',
      weightsChecksum: model.weights_checksum?.digest ?? '',
    },
    hidden: older.hidden ?? older.hide ?? false,
  };
}

/** Several outputs may have the same labels. */
function listDownloads(older: OlderModel, downloads: readonly Download[]): readonly Download[] {
  const labels = outputTensorsOf(older).flatMap((tensor) => findLabels(older, tensor).download ?? []);
  return [...new Map([...downloads, ...labels].map((download) => [download.url, download])).values()];
}

function convert(older: OlderModel): ModelManifest {
  const { model, downloads } = locateFiles(older.model);
  const references = older.references ?? older.reference ?? [];
  return {
    dlspec: 'model/v1',
    name: older.name,
    version: semver.coerce(older.version, { includePrerelease: true })?.version ?? older.version,
    written: {
      version: older.version,
      framework: older.framework === ANY_FRAMEWORK ? ANY_FRAMEWORK : older.framework.name,
    },
    description: older.description,
    task: older.modality,
    license: older.license,
    references: typeof references === 'string' ? [references] : references,
    framework:
      older.framework === ANY_FRAMEWORK
        ? ANY_FRAMEWORK
        : { name: older.framework.name.toLowerCase(), version: older.framework.version },
    inputs: [...convertInputs(older)],
    outputs: [...convertOutputs(older)],
    dimensions: {},
    model,
    attributes: Object.fromEntries(Object.entries(older.attributes).map(([key, value]) => [key, textOf(value)])),
    downloads: listDownloads(older, downloads),
    published: publishedParts(older),
  };
}

/** Unknown keys, and known keys that only the older platform uses. */
function ignoredKeysNote(
  document: ManifestDocument,
  unknown: readonly IgnoredKey[],
  older: OlderModel,
): readonly Note[] {
  const known: readonly IgnoredKey[] = [
    ...(older.large_model === undefined ? [] : [{ path: ['large_model'], meant: undefined }]),
    ...(older.model.checkpoint === undefined ? [] : [{ path: ['model', 'checkpoint'], meant: undefined }]),
  ];
  const hint = ({ meant }: IgnoredKey): string => (meant === undefined ? '' : ` (did you mean ${quoted(meant)}?)`);
  const [first, ...rest] = byPosition([...unknown, ...known].map((key) => noteAtKey(document, key.path, hint(key))));
  if (first === undefined) return [];
  const others = rest.map(({ path, message }) => path + message);
  const also = others.length === 0 ? '' : `, and so are ${others.join(', ')}`;
  return [{ ...first, message: `has no effect here and is ignored${first.message}${also}` }];
}

function elementTypeNotes(document: ManifestDocument, older: OlderModel): readonly Note[] {
  const listed = older.outputs === undefined ? ['output'] : undefined;
  const tensors = [
    ...older.inputs.map((tensor, i) => ({ tensor, path: ['inputs', i] as YamlPath })),
    ...outputTensorsOf(older).map((tensor, i) => ({ tensor, path: listed ?? (['outputs', i] as YamlPath) })),
  ];
  return tensors.flatMap(({ tensor, path }): readonly Note[] => {
    const { element_type: written } = tensor.parameters;
    if (written === undefined || olderElementType(written) !== undefined) return [];
    const at = [...path, 'parameters', 'element_type'];
    return [noteAt(document, at, `${quoted(written)} is no element type of ONNX; the graph's own type is used`)];
  });
}

/** A DLSpec manifest that lacks its header is not one. */
export function isOlderModel({ root }: ManifestDocument): boolean {
  const has = (...path: (string | number)[]): boolean => nodeAt(root, path) !== undefined;
  if (has('dlspec') || has('inputs', 0, 'layer_name') || has('model', 'checksum')) return false;
  return has('model') || has('inputs') || has('output') || has('outputs');
}

/** As in the original platform. */
const REPEATED = 'the key is repeated; its last value counts, and repeated mappings are put together';

export function readOlderModel(written: ManifestDocument): Loaded<ModelManifest> | Problems {
  const { repeatedKeys } = written;
  const document = { ...written, problems: written.problems.filter((problem) => !repeatedKeys.includes(problem)) };
  const result = validateKnownKeys(document, olderModelSchema);
  if (!result.ok) return result;
  const older = result.data;
  const notes: Note[] = [
    ...repeatedKeys.map(({ file, line, column, path }) => ({ file, line, column, path, message: REPEATED })),
    ...ignoredKeysNote(document, result.ignored, older),
    ...elementTypeNotes(document, older),
  ];
  for (const key of CODE_KEYS) {
    if ((older[key] ?? '') !== '') notes.push(noteAt(document, [key], 'this code is never run; inputs are made up'));
  }
  if (older.model.weights_path !== undefined) {
    notes.push(
      noteAt(document, ['model', 'weights_path'], 'not used; the ONNX file itself names the files of its weights'),
    );
  }
  for (const [i, input] of older.inputs.entries()) {
    const image = convertImage(older, input);
    if (image === undefined || 'steps' in image) continue;
    notes.push(
      noteAt(document, ['inputs', i, 'parameters'], `this input cannot be made from pictures: ${image.reason}`),
    );
  }
  return { ok: true, manifest: convert(older), notes };
}
