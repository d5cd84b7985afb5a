import { z } from 'zod';
import { conditionsSchema } from '../measurement/conditions.js';
import { kernelMemorySchema, poolSchema } from '../measurement/kernel-facts-schema.js';

/** @param runs that were asked for */
export function layerTraceSchema(runs: number) {
  const timesSchema = z.array(z.number().nonnegative()).min(1).max(runs).readonly();
  const kernelSchema = z.object({
    /** Its place in a run: 7, or 7-0-1 inside of the subgraphs that kernel 7 executes. Kernel 7's time includes it. */
    sequenceIndex: z.string().regex(/^\d+(-\d+)*$/),
    name: z.string(),
    opName: z.string(),
    executionProvider: z.string(),
    /** Shapes of the outputs, as in [1,64,56,56]; several are separated by semicolons. */
    shape: z.string(),
    inputShape: z.string(),
    /** Element types of the inputs and outputs, separated by semicolons; empty from agents of earlier versions. */
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
