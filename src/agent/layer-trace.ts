import { z } from 'zod';
import { conditionsSchema } from '../measurement/conditions.js';
import { kernelMemorySchema, poolSchema } from '../measurement/kernel-facts-schema.js';

/** @param runs that were asked for */
export function layerTraceSchema(runs: number) {
  const timesSchema = z.array(z.number().nonnegative()).min(1).max(runs).readonly();
  /** As {@link TracedKernel} describes it. */
  const kernelSchema = z.object({
    sequenceIndex: z.string().regex(/^\d+(-\d+)*$/),
    name: z.string(),
    opName: z.string(),
    executionProvider: z.string(),
    shape: z.string(),
    inputShape: z.string(),
    inputTypes: z.string(),
    outputTypes: z.string(),
    elementType: z.string(),
    memory: kernelMemorySchema.optional(),
    /** The sections are means over the runs. */
    pool: poolSchema.optional(),
    runMs: timesSchema,
  });
  return z.object({
    untracedMs: timesSchema,
    tracedMs: timesSchema,
    kernels: z.array(kernelSchema).readonly(),
    /** The load on the machine during the runs; undefined where the operating system does not report it. */
    conditions: conditionsSchema.optional(),
  });
}

export type LayerTrace = Readonly<z.infer<ReturnType<typeof layerTraceSchema>>>;

export type KernelTrace = Readonly<LayerTrace['kernels'][number]>;
