import { z } from 'zod';
import type { ModelManifest as RegistryManifest } from '../generated/carml/org/dlframework/registry.js';
import {
  dimensionNameField,
  dimensionSizeField,
  elementTypeField,
  frameworkField,
  headerFields,
  modelFrameworkField,
  oneLineField,
  text,
} from './fields.js';
import type { Download } from './fetched-files.js';
import { inputValuesField } from './input-values.js';
import { isUrl, ZOO_PREFIX, parseZooName } from './reference.js';
import { type OutputSteps, outputStepsField } from './output-steps.js';
import { dimensionsAfter, IMAGE_ELEMENT_TYPES, isImageElementType, type ImageSteps, imageStepsField } from './steps.js';
import type { ElementType } from '../onnx/model/element-type.js';
import type { Dimension, InputValues } from '../onnx/model/model.js';
import { dimensionExpression } from '../onnx/layers/dimension-expression.js';

/** The evaluation's batch size binds it. */
export const BATCH = 'batch';

export interface ModelTensor {
  /** Name in the graph; in older manifests also the index among the inputs or outputs. */
  readonly layer_name: string | number;
  readonly element_type?: ElementType | undefined;
  readonly dimensions?: readonly Dimension[] | undefined;
}

export interface ModelInput extends ModelTensor {
  readonly steps?: ImageSteps | undefined;
  readonly values?: InputValues | undefined;
}

export interface ModelOutput extends ModelTensor {
  readonly steps?: OutputSteps | undefined;
}

/** Only older manifests have MD5. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'md5';
  /** Lower-case hexadecimal. */
  readonly digest: string;
}

const tensorShape = {
  layer_name: oneLineField('the name of an input or output of the graph'),
  element_type: elementTypeField,
  dimensions: z
    .array(z.union([dimensionSizeField, dimensionNameField], { error: 'a whole number, or the name of a dimension' }))
    .max(32),
};

/** The key with a problem and its expected value, for an input that steps make from a picture. */
function stepsProblem({ element_type, dimensions, steps }: ModelInput): [string, string] | undefined {
  if (steps === undefined) return undefined;
  if (element_type !== undefined && !isImageElementType(element_type)) {
    return ['element_type', `${IMAGE_ELEMENT_TYPES.join(', ')} (steps make no other type)`];
  }
  const after = dimensionsAfter(steps);
  if (after === undefined) return ['steps', 'a resize or crop to height and width as the last step'];
  const [, ...given] = dimensions ?? [BATCH, ...after];
  return given.join() === after.join()
    ? undefined
    : ['dimensions', `[batch, ${after.join(', ')}], as the steps make it`];
}

const inputField = z
  .strictObject({
    ...tensorShape,
    steps: imageStepsField.optional().describe('How a picture becomes this input.'),
    values: inputValuesField.optional().describe('Its values where latencies are estimated.'),
  })
  .superRefine(
    (input, context) => {
      const problem = stepsProblem(input);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [problem[0]], message: problem[1] });
    },
    // Invalid steps have no parsed form to compare with the dimensions.
    { when: ({ issues }) => issues.length === 0 },
  )
  .transform((input): ModelInput => input);

const outputField = z
  .strictObject({
    ...tensorShape,
    steps: outputStepsField.optional().describe('How this output becomes classes, objects or segments.'),
  })
  .transform((output): ModelOutput => output);

function tensorsField<T extends ModelTensor>(tensorField: z.ZodType<T>) {
  return z
    .array(tensorField)
    .min(1)
    .max(1000)
    .superRefine((tensors, context) => {
      const seen = new Set<string | number>();
      for (const [i, { layer_name }] of tensors.entries()) {
        if (seen.has(layer_name))
          context.addIssue({ code: 'custom', path: [i, 'layer_name'], message: 'every layer once' });
        seen.add(layer_name);
      }
    });
}

const bindingsField = z
  .record(
    dimensionNameField.refine((name) => name !== BATCH, { error: 'no batch, which the evaluation binds (batch_size)' }),
    dimensionSizeField,
  )
  .default({});

const GRAPH_PATH = 'the path of a file, or zoo:NAME';

const sourceField = z
  .strictObject({
    graph_path: text(`${GRAPH_PATH} (files are not downloaded)`, (value) => !isUrl(value))
      .pipe(oneLineField(GRAPH_PATH))
      .refine((value) => !value.startsWith(ZOO_PREFIX) || parseZooName(value) !== undefined, { error: GRAPH_PATH }),
    checksum: text('the SHA-256 of the file as 64 hexadecimal digits', (value) => /^[0-9a-fA-F]{64}$/.test(value))
      .transform((digest): Checksum => ({ algorithm: 'sha256', digest: digest.toLowerCase() }))
      .optional(),
  })
  .superRefine(({ graph_path, checksum }, context) => {
    const isZoo = graph_path.startsWith(ZOO_PREFIX);
    if (isZoo === (checksum === undefined)) return;
    const message = isZoo ? 'no checksum for a model that is built here' : 'the SHA-256 of the file';
    context.addIssue({ code: 'custom', path: ['checksum'], message });
  });

/** What {@link reportUnbound} needs. It runs even where other parts have problems. */
const bindingPartsSchema = z.object({ inputs: tensorsField(inputField), dimensions: bindingsField });

function reportUnbound(parts: z.output<typeof bindingPartsSchema>, context: z.RefinementCtx): void {
  const bound = new Set([BATCH, ...Object.keys(parts.dimensions)]);
  for (const [i, { dimensions }] of parts.inputs.entries()) {
    for (const [j, dimension] of (dimensions ?? []).entries()) {
      if (typeof dimension === 'number' || bound.has(dimension)) continue;
      const parts = dimensionExpression(dimension)?.names;
      if (parts?.every((part) => bound.has(part)) === true) continue;
      const message = `a whole number, or a name that is bound under dimensions (${[...bound].join(', ')})`;
      context.addIssue({ code: 'custom', path: ['inputs', i, 'dimensions', j], message });
    }
  }
}

export const modelSchema = z
  .strictObject({
    ...headerFields('model/v1'),
    author: z.string().optional(),
    task: z.string().optional(),
    license: z.string().optional(),
    references: z.array(z.string()).default([]),
    framework: modelFrameworkField(frameworkField),
    inputs: tensorsField(inputField),
    outputs: tensorsField(outputField),
    dimensions: bindingsField,
    model: sourceField,
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()], { error: 'a text' })).default({}),
  })
  .superRefine(reportUnbound, { when: ({ value }) => bindingPartsSchema.safeParse(value).success });

/** As an older manifest writes them, for analyses that use these forms. */
export interface WrittenNames {
  /** 1.0 for 1.0.0. */
  readonly version: string;
  /** TensorFlow for tensorflow. */
  readonly framework: string;
}

/** Of an older manifest: as they are written, for the platform's registry. Lists leave out a hidden model. */
export type PublishedParts = Readonly<Pick<RegistryManifest, 'inputs' | 'output' | 'model' | 'hidden'>>;

export interface GraphFile {
  /** Relative to the manifest's folder, or zoo:NAME; undefined where an older manifest names no graph. */
  readonly graph_path?: string | undefined;
  readonly checksum?: Checksum | undefined;
}

/** Older manifests are converted to it. */
export type ModelManifest = Readonly<Omit<z.output<typeof modelSchema>, 'model'>> & {
  readonly model: GraphFile;
  readonly written?: WrittenNames;
  readonly downloads?: readonly Download[] | undefined;
  readonly published?: PublishedParts | undefined;
};

export function symbolBindings(manifest: ModelManifest, batchSize: number): ReadonlyMap<string, number> {
  return new Map([...Object.entries(manifest.dimensions), [BATCH, batchSize]]);
}
