import semver from 'semver';
import { z } from 'zod';
import { ownValue } from '../base/own-value.js';
import type { Dimension } from '../onnx/model/model.js';
import { type ManifestDocument, nodeAt, noteAt } from './document.js';
import { elementTypeField, isVersionRange, oneLineField, text } from './fields.js';
import {
  BATCH,
  type Checksum,
  type ModelInput,
  type ModelManifest,
  type ModelOutput,
  type ModelTensor,
} from './model.js';
import { layOut, olderClassSteps, type OlderImage, olderImageSteps } from './older-steps.js';
import type { Loaded, Note, Problems } from './problem.js';
import { isUrl, zooNameOf } from './reference.js';
import { validate } from './validate.js';

// Model manifests of the platform before DLSpec (MLModelScope, c3sr/dlframework: builtin_models/*.yml). Every scalar is
// read as the text that it is, because they write versions as 1.0 and 1.10, and every parameter is a text on the wire.

const CODE_KEYS = [
  'before_preprocess',
  'preprocess',
  'after_preprocess',
  'before_postprocess',
  'postprocess',
  'after_postprocess',
] as const;

const DIMENSIONS = 'a list of dimensions such as [3, 224, 224]';

/** `[1, 3, 224, 224]` as a list or as a text; a first dimension that is left open is the batch. */
function parseDimensions(value: string | readonly string[]): readonly Dimension[] | undefined {
  const items = typeof value === 'string' ? value.replace(/^\[(.*)\]$/, '$1').split(',') : value;
  const dimensions = items.map((item, i): Dimension | undefined => {
    const dimension = item.trim();
    if (i === 0 && (dimension === BATCH || dimension === '-1')) return BATCH;
    const size = /^\d{1,10}$/.test(dimension) ? Number(dimension) : 0;
    return size >= 1 && size < 2 ** 31 ? size : undefined;
  });
  const known = dimensions.filter((dimension) => dimension !== undefined);
  return known.length === dimensions.length && known.length <= 32 ? known : undefined;
}

const dimensionsField = z
  .union([z.array(z.string()), z.string()], { error: DIMENSIONS })
  .transform((value, context) => {
    const dimensions = parseDimensions(value);
    if (dimensions !== undefined) return dimensions;
    context.addIssue({ code: 'custom', message: DIMENSIONS });
    return z.NEVER;
  });

const LAYER_KEY = /^layer_name$|_layer$/;

const tensorField = z.strictObject({
  type: z.string().default(''),
  description: z.string().optional(),
  parameters: z
    .looseObject({
      element_type: z
        .string()
        .transform((value) => value.toLowerCase())
        .pipe(elementTypeField)
        .optional(),
      dimensions: dimensionsField.optional(),
    })
    .superRefine((parameters, context) => {
      const layer = oneLineField('the name or number of a layer');
      for (const key of Object.keys(parameters).filter((name) => LAYER_KEY.test(name))) {
        const issues = layer.safeParse(ownValue(parameters, key)).error?.issues ?? [];
        for (const { message } of issues) context.addIssue({ code: 'custom', path: [key], message });
      }
    })
    .default({}),
});

type OlderTensor = z.output<typeof tensorField>;

const LOCAL_GRAPH = 'the path of a file in graph_path and no base_url (files are not downloaded: get it, then name it)';

const checksumField = text('an MD5 (32 hexadecimal digits) or SHA-256 (64)', (value) => {
  return /^([0-9a-f]{32}|[0-9a-f]{64})?$/i.test(value);
}).transform((digest): Checksum | undefined => {
  if (digest === '') return undefined;
  return { algorithm: digest.length === 32 ? 'md5' : 'sha256', digest: digest.toLowerCase() };
});

const sourceField = z.strictObject({
  base_url: text(LOCAL_GRAPH, (value) => value === '').optional(),
  graph_path: text(LOCAL_GRAPH, (value) => !isUrl(value)).pipe(oneLineField(LOCAL_GRAPH)),
  graph_checksum: checksumField.optional(),
  weights_path: z.string().optional(),
  weights_checksum: z.string().optional(),
  is_archive: text('false (archives are not opened)', (value) => /^(false)?$/i.test(value)).optional(),
});

const listOrText = z.union([z.array(z.string()), z.string()], { error: 'a list, or a text' });

const code = z.string().optional();

const olderModelSchema = z.strictObject({
  name: oneLineField('a name'),
  version: text('a version such as 1.0', (value) => /^v?\d/.test(value) && semver.coerce(value) !== null),
  framework: z.strictObject({
    name: oneLineField('the name of a framework'),
    version: text('a range of versions such as 1.x', isVersionRange),
  }),
  container: z.unknown().optional(),
  description: z.string().optional(),
  references: listOrText.optional(),
  reference: listOrText.optional(),
  license: z.string().optional(),
  modality: z.string().optional(),
  inputs: z.array(tensorField).min(1).max(1000),
  output: tensorField.optional(),
  outputs: z.array(tensorField).min(1).max(1000).optional(),
  before_preprocess: code,
  preprocess: code,
  after_preprocess: code,
  before_postprocess: code,
  postprocess: code,
  after_postprocess: code,
  model: sourceField,
  attributes: z.record(z.string(), listOrText).default({}),
  hidden: z.string().optional(),
});

type OlderModel = z.output<typeof olderModelSchema>;

/** The platform's images are single ones: three dimensions, to which it adds the batch. */
function withBatch({ type, parameters }: OlderTensor): readonly Dimension[] | undefined {
  const { dimensions } = parameters;
  return type === 'image' && dimensions?.length === 3 ? [BATCH, ...layOut(dimensions, parameters)] : dimensions;
}

/** One manifest entry may name several layers: the boxes, classes and probabilities of a detector, for example. */
function tensorsOf(tensor: OlderTensor, place: number): readonly ModelTensor[] {
  const { parameters } = tensor;
  const layers = Object.entries(parameters).filter(([key]) => LAYER_KEY.test(key));
  const names = layers.length === 0 ? [String(place)] : layers.map(([, name]) => String(name));
  return names.map((name) => ({
    layer_name: /^\d+$/.test(name) ? Number(name) : name,
    element_type: parameters.element_type,
    // With several layers, the dimensions have no clear owner.
    dimensions: names.length === 1 ? withBatch(tensor) : undefined,
  }));
}

function hasCode(older: OlderModel, when: 'preprocess' | 'postprocess'): boolean {
  return CODE_KEYS.some((key) => key.endsWith(when) && (older[key] ?? '') !== '');
}

/** How pictures become this input; undefined where it takes none, or where code decides how. */
function imageOf(older: OlderModel, { type, parameters }: OlderTensor): OlderImage | undefined {
  if (type !== 'image' || hasCode(older, 'preprocess')) return undefined;
  const { dimensions, element_type } = parameters;
  const [first, ...rest] = dimensions ?? [];
  return olderImageSteps(parameters, first === BATCH || rest.length === 3 ? rest : dimensions, element_type);
}

function inputsOf(older: OlderModel): readonly ModelInput[] {
  return older.inputs.flatMap((input, place): readonly ModelInput[] => {
    const tensors = tensorsOf(input, place);
    const image = tensors.length === 1 ? imageOf(older, input) : undefined;
    return image !== undefined && 'steps' in image ? tensors.map((tensor) => ({ ...tensor, ...image })) : tensors;
  });
}

function outputsOf(older: OlderModel): readonly ModelOutput[] {
  const { output, outputs = output === undefined ? [] : [output] } = older;
  return outputs.flatMap((tensor, place): readonly ModelOutput[] => {
    const tensors = tensorsOf(tensor, place);
    const isClasses = tensor.type === 'classification' && tensors.length === 1 && !hasCode(older, 'postprocess');
    return isClasses ? tensors.map((one) => ({ ...one, steps: olderClassSteps(tensor.parameters) })) : tensors;
  });
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : `[${value.join(',')}]`;
}

function convert(older: OlderModel): ModelManifest {
  const { model } = older;
  const references = older.references ?? older.reference ?? [];
  const checksum = zooNameOf(model.graph_path) === undefined ? model.graph_checksum : undefined;
  return {
    dlspec: 'model/v1',
    name: older.name,
    version: semver.coerce(older.version, { includePrerelease: true })?.version ?? older.version,
    written: { version: older.version, framework: older.framework.name },
    description: older.description,
    task: older.modality,
    license: older.license,
    references: typeof references === 'string' ? [references] : references,
    framework: { name: older.framework.name.toLowerCase(), version: older.framework.version },
    inputs: [...inputsOf(older)],
    outputs: [...outputsOf(older)],
    dimensions: {},
    model: { graph_path: model.graph_path, checksum },
    attributes: Object.fromEntries(Object.entries(older.attributes).map(([key, value]) => [key, textOf(value)])),
  };
}

/** Whether a manifest without a header is one of the older platform's rather than a DLSpec one that lacks it. */
export function isOlderModel({ root }: ManifestDocument): boolean {
  const has = (...path: (string | number)[]): boolean => nodeAt(root, path) !== undefined;
  if (has('dlspec') || has('inputs', 0, 'layer_name') || has('model', 'checksum')) return false;
  return has('model') || has('inputs') || has('output') || has('outputs');
}

/** Reads a model manifest of the older platform as if it were one of today's. */
export function readOlderModel(document: ManifestDocument): Loaded<ModelManifest> | Problems {
  const result = validate(document, olderModelSchema, 'text');
  if (!result.ok) return result;
  const older = result.data;
  const notes: Note[] = CODE_KEYS.filter((key) => (older[key] ?? '') !== '').map((key) =>
    noteAt(document, [key], 'this code is never run; inputs are made up'),
  );
  if ((older.model.weights_path ?? '') !== '') {
    notes.push(noteAt(document, ['model', 'weights_path'], 'not used; an ONNX file says itself where its weights are'));
  }
  for (const [i, input] of older.inputs.entries()) {
    const image = imageOf(older, input);
    if (image === undefined || 'steps' in image) continue;
    notes.push(noteAt(document, ['inputs', i, 'parameters'], `no pictures can be given: ${image.reason}`));
  }
  return { ok: true, manifest: convert(older), notes };
}
