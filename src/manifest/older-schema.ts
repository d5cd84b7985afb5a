import semver from 'semver';
import { z } from 'zod';
import { ownValue } from '../base/own-value.js';
import { type ElementType, isElementType } from '../onnx/model/element-type.js';
import type { Dimension } from '../onnx/model/model.js';
import { isVersionRange, modelFrameworkField, oneLineField, text } from './fields.js';
import { BATCH, type Checksum } from './model.js';

// Every scalar is a text, and keys without a value are absent; see older-model.ts.

export const CODE_KEYS = [
  'before_preprocess',
  'preprocess',
  'after_preprocess',
  'before_postprocess',
  'postprocess',
  'after_postprocess',
] as const;

const DIMENSIONS = 'a list of dimensions such as [3, 224, 224]';

/** As a list or as a text; a first dimension that is left open is the batch. */
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

export const LAYER_KEY = /^layer_name$|_layer$/;

const OTHER_ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map([
  ['float', 'float32'],
  ['double', 'float64'],
  ['half', 'float16'],
  ['int', 'int32'],
  ['long', 'int64'],
  ['byte', 'uint8'],
]);

export function olderElementType(written: string): ElementType | undefined {
  const name = written.toLowerCase();
  return isElementType(name) ? name : OTHER_ELEMENT_TYPES.get(name);
}

const tensorField = z.strictObject({
  type: z.string().default(''),
  description: z.string().optional(),
  parameters: z
    .looseObject({
      element_type: z.string().optional(),
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

export type OlderTensor = z.output<typeof tensorField>;

export const checksumField = text('an MD5 (32 hexadecimal digits) or SHA-256 (64)', (value) => {
  return /^([0-9a-f]{32}|[0-9a-f]{64})$/i.test(value);
}).transform((digest): Checksum => {
  return { algorithm: digest.length === 32 ? 'md5' : 'sha256', digest: digest.toLowerCase() };
});

const pathField = oneLineField('a path or an address');

const flagField = text('true or false', (value) => /^(true|false|yes|no)$/i.test(value)).transform((value) =>
  /^(true|yes)$/i.test(value),
);

const sourceField = z.strictObject({
  base_url: pathField.optional(),
  graph_path: pathField.optional(),
  graph_checksum: checksumField.optional(),
  weights_path: pathField.optional(),
  weights_checksum: checksumField.optional(),
  features_path: pathField.optional(),
  features_checksum: checksumField.optional(),
  onnx_url: pathField.optional(),
  checkpoint: z.unknown().optional(),
  is_archive: flagField.optional(),
});

const listOrText = z.union([z.array(z.string()), z.string()], { error: 'a list, or a text' });

const code = z.string().optional();

export const olderModelSchema = z.strictObject({
  name: oneLineField('a name'),
  version: text('a version such as 1.0', (value) => /^v?\d/.test(value) && semver.coerce(value) !== null),
  framework: modelFrameworkField(
    z.strictObject({
      name: oneLineField('the name of a framework'),
      version: text('a range of versions such as 1.x', isVersionRange),
    }),
  ),
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
  hidden: flagField.optional(),
  hide: flagField.optional(),
  large_model: z.unknown().optional(),
});

export type OlderModel = z.output<typeof olderModelSchema>;
