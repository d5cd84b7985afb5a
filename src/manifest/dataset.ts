import { z } from 'zod';
import { headerFields, nameField, oneLineField } from './fields.js';

const ONLY_SEED = '0, the only seed that inputs are made up from';

export const datasetSchema = z
  .strictObject({
    ...headerFields('dataset/v1'),
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
