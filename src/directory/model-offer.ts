import { z } from 'zod';

export function line(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'not a line');
}

function text(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^(?:[^\p{C}\p{Zl}\p{Zp}]|[\t\r\n])*$/u, 'not a text');
}

const container = z
  .record(line(100), z.strictObject({ gpu: line(300), cpu: line(300) }))
  .refine((images) => Object.keys(images).length <= 16, 'more than 16 containers');

const typeSchema = z.strictObject({
  type: line(100),
  description: text(4000),
  parameters: z
    .record(line(100), z.strictObject({ value: text(4000) }))
    .refine((parameters) => Object.keys(parameters).length <= 64, 'more than 64 parameters'),
});

const NO_NAME = 'a model without a name or a version';

export const modelOfferSchema = z.strictObject({
  name: line(100).min(1, NO_NAME),
  version: line(100).min(1, NO_NAME),
  framework: z.strictObject({ name: line(100), version: line(100), container }).or(z.undefined()),
  container,
  description: text(4000),
  reference: z.array(line(1000)).max(64),
  license: line(300),
  inputs: z.array(typeSchema).max(256),
  output: typeSchema.or(z.undefined()),
  beforePreprocess: text(20_000),
  preprocess: text(20_000),
  afterPreprocess: text(20_000),
  beforePostprocess: text(20_000),
  postprocess: text(20_000),
  afterPostprocess: text(20_000),
  model: z
    .strictObject({
      baseUrl: line(1000),
      weightsPath: line(1000),
      graphPath: line(1000),
      isArchive: z.boolean(),
      weightsChecksum: line(300),
      graphChecksum: line(300),
    })
    .or(z.undefined()),
  attributes: z
    .record(line(100), text(4000))
    .refine((attributes) => Object.keys(attributes).length <= 64, 'more than 64 attributes'),
  hidden: z.boolean(),
});
