import { z } from 'zod';
import { wholeNumber } from '../base/bounded-number.js';
import { nameField, oneLineField, versionField } from './fields.js';

export const datasetSchema = z
  .strictObject({
    dlspec: z.literal('dataset/v1'),
    name: nameField,
    version: versionField,
    description: z.string().optional(),
    license: z.string().optional(),
    synthetic: z.strictObject({ seed: wholeNumber(0, 2 ** 32 - 1) }).optional(),
    sources: z
      .array(z.strictObject({ name: nameField, source: oneLineField('the address of a source') }))
      .min(1)
      .optional(),
  })
  .refine(({ synthetic, sources }) => (synthetic === undefined) !== (sources === undefined), {
    error: 'either synthetic or sources',
  });

export type DatasetManifest = Readonly<z.output<typeof datasetSchema>>;
