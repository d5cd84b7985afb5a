import { z } from 'zod';
import { withSnakeKeys } from '../base/snake-case.js';
import { EXECUTION_MODES } from './runtime-settings.js';
import type { System, SystemFacts } from './system.js';
import { usedCores } from './used-cores.js';

export const stackSchema = z.strictObject({
  processor: z.string(),
  architecture: z.string(),
  operating_system: z.string(),
  cores: z.int(),
  memory_bytes: z.number(),
  processor_features: z.array(z.string()),
  framework: z.string(),
  framework_version: z.string(),
});

export const systemDocumentSchema = z.strictObject({
  fingerprint: z.string().describe('SHA-256 of the system and the protocol that a measurement depends on'),
  ...stackSchema.shape,
  threads: z.int(),
  execution_provider: z.string(),
  optimization_level: z.string(),
  execution_mode: z.enum(EXECUTION_MODES).default('sequential'),
  inter_op_threads: z
    .int()
    .default(1)
    .describe('Kernels that run at the same time at most, in execution mode parallel'),
  session: z.array(z.string()).default([]).describe("Further keys of the runtime's session: KEY=VALUE"),
});

type SystemDocument = z.infer<typeof systemDocumentSchema>;

/** Processor, cores and framework in words, as headings and notes have them. */
export function stackText({
  processor,
  cores,
  threads,
  framework,
  framework_version: version,
}: Pick<SystemDocument, 'processor' | 'cores' | 'threads' | 'framework' | 'framework_version'>): string {
  return `${processor}, ${usedCores(threads, cores)}, ${framework} ${version}`;
}

// They leave out what else is known about a system. Zod compiles each schema once.
const stackOf = z.object(stackSchema.shape);
const documentOf = z.object(systemDocumentSchema.shape);

export function buildStack(facts: SystemFacts): z.infer<typeof stackSchema> {
  return stackOf.parse(withSnakeKeys(facts));
}

export function toSystemDocument({ runOptions, ...system }: System): SystemDocument {
  return documentOf.parse(withSnakeKeys({ ...system, ...runOptions }));
}
