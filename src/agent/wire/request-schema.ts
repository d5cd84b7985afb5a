import { z } from 'zod';
import { INPUT_ROLES, inputBytes } from '../../measurement/benchmark.js';
import { limitsSchema, protocolSchema } from '../../measurement/protocol.js';
import { sessionEntriesSchema } from '../../measurement/runtime-settings.js';
import { runOptionsSchema } from '../../measurement/system.js';
import { MAX_LISTED_VALUES } from '../../onnx/model/model.js';
import { ELEMENT_TYPE_NAMES } from '../../onnx/model/element-type.js';

// Limits of a request. The worker process gets every request that passes; the agent limits its memory and time.

const MAX_GRAPH_INPUTS = 100_000;
const MAX_RANK = 64;
/** Most bytes of all inputs together: more than the memory of any machine that this runs on, and far below 2^53. */
const MAX_FILLED_BYTES = 2 ** 44;

export const elementTypeSchema = z.enum(ELEMENT_TYPE_NAMES);

const inputSchema = z.strictObject({
  name: z.string().min(1).max(4096),
  role: z.enum(INPUT_ROLES),
  elementType: elementTypeSchema,
  dims: z.array(z.int().min(0).max(MAX_FILLED_BYTES)).max(MAX_RANK),
  fill: z
    .strictObject({
      low: z.number(),
      high: z.number(),
      seed: z.int().min(0),
      list: z.array(z.number()).min(1).max(MAX_LISTED_VALUES).optional(),
    })
    .refine(({ low, high }) => low <= high, 'low is above high')
    .refine(({ low, high, list = [] }) => list.every((value) => low <= value && value <= high), 'a value out of range'),
  isGiven: z.boolean().optional(),
});

export const benchmarkSchema = z.strictObject({
  signature: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits'),
  model: z.instanceof(Uint8Array).refine(({ length }) => length > 0, 'empty'),
  inputs: z
    .array(inputSchema)
    .max(MAX_GRAPH_INPUTS)
    .refine((inputs) => new Set(inputs.map(({ name }) => name)).size === inputs.length, 'two inputs of the same name')
    .refine((inputs) => inputBytes(inputs) <= MAX_FILLED_BYTES, `more than ${MAX_FILLED_BYTES} bytes in all`),
  weights: z.string().max(4096).optional(),
});

export const requestedRunOptionsSchema = runOptionsSchema.extend({
  executionProvider: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/i, 'not the name of an execution provider'),
  session: sessionEntriesSchema,
});

export const setupSchema = z.strictObject({
  protocol: protocolSchema,
  occasion: z.int().min(1),
  limits: limitsSchema,
});
