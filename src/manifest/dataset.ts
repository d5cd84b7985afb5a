import { z } from 'zod';
import { nameField, oneLineField, versionField } from './fields.js';

const ONLY_SEED = '0, the only seed that inputs are made up from';

export const datasetSchema = z
  .strictObject({
    dlspec: z.literal('dataset/v1'),
    name: nameField,
    version: versionField,
    description: z.string().optional(),
    license: z.string().optional(),
    synthetic: z.strictObject({ seed: z.literal(0, { error: ONLY_SEED }) }).optional(),
    sources: z
      .array(z.strictObject({ name: nameField, source: oneLineField('the address of a source') }))
      .min(1)
      .optional(),
  })
  .refine(({ synthetic, sources }) => (synthetic === undefined) !== (sources === undefined), {
    error: 'either synthetic or sources',
  });

export type DatasetManifest = Readonly<z.output<typeof datasetSchema>>;
