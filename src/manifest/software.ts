import { z } from 'zod';
import { frameworkField, nameField, versionField } from './fields.js';

export const softwareConstraintSchema = z.strictObject({ framework: frameworkField });

export type SoftwareConstraint = Readonly<z.output<typeof softwareConstraintSchema>>;

export const softwareSchema = z.strictObject({
  dlspec: z.literal('software/v1'),
  name: nameField,
  version: versionField,
  description: z.string().optional(),
  framework: frameworkField,
});

export type SoftwareManifest = Readonly<z.output<typeof softwareSchema>>;
