import { z } from 'zod';
import { positiveNumber, wholeNumber } from '../base/bounded-number.js';
import { headerFields, oneLineField } from './fields.js';

const ARCHITECTURES = ['x64', 'arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x'] as const;

const constraintShape = {
  architecture: z.enum(ARCHITECTURES).optional().describe('As Node names it.'),
  processor: oneLineField("a part of the processor's name")
    .optional()
    .describe("A part of the processor's name; upper and lower case are the same."),
  cores: z.strictObject({ min: wholeNumber(1, 100_000) }).optional(),
  memory: z.strictObject({ min_gib: positiveNumber() }).optional(),
};

export const hardwareConstraintSchema = z.strictObject(constraintShape);

export type HardwareConstraint = Readonly<z.output<typeof hardwareConstraintSchema>>;

export const hardwareSchema = z.strictObject({
  ...headerFields('hardware/v1'),
  ...constraintShape,
});

export type HardwareManifest = Readonly<z.output<typeof hardwareSchema>>;
