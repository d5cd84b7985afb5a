import { z } from 'zod';
import { frameworkField, headerFields } from './fields.js';

export const softwareConstraintSchema = z.strictObject({ framework: frameworkField });

export type SoftwareConstraint = Readonly<z.output<typeof softwareConstraintSchema>>;

export const softwareSchema = z.strictObject({
  ...headerFields('software/v1'),
  framework: frameworkField,
});

export type SoftwareManifest = Readonly<z.output<typeof softwareSchema>>;
