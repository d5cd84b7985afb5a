import { z } from 'zod';
import { positiveNumber, wholeNumber } from '../base/bounded-number.js';
import { threadsSchema } from '../base/default-threads.js';
import { maxOf } from '../base/long-lists.js';
import { type Limits, limitsSchema, type Protocol, protocolSchema } from '../measurement/protocol.js';
import { type AgentChoice, agentsField, mostAgents, placementField } from './agents.js';
import { dimensionSizeField, headerFields, nameField, oneLineField, text } from './fields.js';
import { hardwareConstraintSchema } from './hardware.js';
import { isTraceUrlTemplate, TRACE_URL_TEMPLATE } from '../tracing/trace-url.js';
import { isManifestPath, MODEL_REFERENCE, parseNamedReference, parseModelReference } from './reference.js';
import { softwareConstraintSchema } from './software.js';

export const MAX_MODELS = 1000;
const DEFAULT_MIN_RUNS = 10;
const BYTES_PER_GIB = 2 ** 30;

const protocolField = z
  .strictObject({
    warmup_runs: protocolSchema.shape.warmupRuns.default(3).describe('Runs before the timed ones.'),
    runs: protocolSchema.shape.runs.default(50).describe('Timed runs.'),
    min_runs: protocolSchema.shape.minRuns
      .optional()
      .describe('Timed runs made even when the time budget is used up: 10, or all where there are fewer.'),
    time_budget_ms: protocolSchema.shape.timeBudgetMs
      .default(5000)
      .describe('No further run starts after this much time in timed runs.'),
    time_limit_ms: limitsSchema.shape.timeLimitMs
      .default(120_000)
      .describe('A measurement that takes longer in all has failed.'),
    memory_limit_gib: positiveNumber().default(8).describe('A measurement whose process takes more memory has failed.'),
  })
  .refine(({ min_runs, runs }) => min_runs === undefined || min_runs <= runs, {
    error: 'at most as many as runs',
    path: ['min_runs'],
  })
  .transform((protocol) => ({ ...protocol, min_runs: protocol.min_runs ?? Math.min(DEFAULT_MIN_RUNS, protocol.runs) }));

const manifestReference = text('the path of a manifest (.yml), or NAME@VERSION', (value) => {
  return isManifestPath(value) || parseNamedReference(value) !== undefined;
}).pipe(oneLineField('a path'));

export const EVALUATED_MODEL = `${MODEL_REFERENCE}, or NAME@VERSION of a manifest`;

const modelReference = text(EVALUATED_MODEL, (value) => {
  return parseModelReference(value) !== undefined || parseNamedReference(value) !== undefined;
}).pipe(oneLineField(EVALUATED_MODEL));

export const batchSizeField = wholeNumber(1, 65_536);

/** Lists of sizes by the names of dimensions. */
export const dimensionAxesField = z
  .record(nameField, z.array(dimensionSizeField).min(1).max(100))
  .refine((sizes) => !('batch' in sizes), 'batch belongs under batch_size');

const matrixDimensions = z.object({ dimensions: dimensionAxesField });

/** The sizes with which models are read. The plugin checks the matrix. */
export function firstSizes({ matrix }: Pick<EvaluationManifest, 'matrix'>): readonly (readonly [string, number])[] {
  const { dimensions = {} } = matrixDimensions.safeParse(matrix).data ?? {};
  return Object.entries(dimensions).map(([name, [first = 0]]) => [name, first]);
}

const matrixThreads = z.object({ threads: z.array(threadsSchema).min(1) });

/** Of the combination that asks for the most. */
export function mostThreads({ threads, matrix, settings }: EvaluationManifest): number {
  const { data } = matrixThreads.safeParse(matrix ?? settings?.['matrix']);
  return data === undefined ? threads : maxOf(data.threads);
}

/** Older manifests have these beside `settings` instead of inside it. The plugin's schema checks their bounds. */
export const MOVED_SETTINGS = ['granularity', 'cut', 'measure_end_to_end'] as const;

/** The plugin's schema describes these keys beside `settings`. */
export const PLUGIN_KEYS = [...MOVED_SETTINGS, 'matrix'] as const;

export function movedTo(key: (typeof MOVED_SETTINGS)[number]): {
  readonly description: string;
  readonly deprecated: true;
} {
  return { description: `Now settings.${key}.`, deprecated: true };
}

export const evaluationSchema = z.strictObject({
  ...headerFields('evaluation/v1'),
  plugin: nameField.default('dlbricks').describe('The evaluation plugin that runs this.'),
  models: z.array(modelReference).min(1).max(MAX_MODELS).describe(`Each ${EVALUATED_MODEL}.`),
  hardware: z
    .union([manifestReference, hardwareConstraintSchema], { error: 'the path of a manifest (.yml), or a constraint' })
    .optional(),
  software: z
    .union([manifestReference, softwareConstraintSchema], { error: 'the path of a manifest (.yml), or a constraint' })
    .optional(),
  agents: agentsField.default('one').describe('Agents of one system that measure it, at most; several share the work.'),
  placement: placementField
    .default('spread')
    .describe('spread: on one system. each: on every system among the agents, each with estimates of its own.'),
  dataset: manifestReference.optional(),
  batch_size: batchSizeField.default(1),
  threads: threadsSchema.default(1),
  dimensions: z
    .record(nameField, dimensionSizeField)
    .optional()
    .describe("Sizes of symbolic dimensions other than the batch; win over the models' own."),
  granularity: z.unknown().optional().meta(movedTo('granularity')),
  cut: z.enum(['kernel', 'layer']).optional().meta(movedTo('cut')),
  measure_end_to_end: z.boolean().optional().meta(movedTo('measure_end_to_end')),
  protocol: protocolField.prefault({}),
  matrix: z
    .unknown()
    .optional()
    .describe('Lists of values by the names of settings; each combination is a row of one result.'),
  trace_url_template: text(TRACE_URL_TEMPLATE, isTraceUrlTemplate)
    .optional()
    .describe("Where a tracing server gives a trace as Jaeger's JSON; {trace_id} stands for its id."),
  settings: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Settings of the plugin, by the plugin's own schema."),
});

export type EvaluationManifest = Readonly<z.output<typeof evaluationSchema>>;

type WithProtocol = Pick<EvaluationManifest, 'protocol'>;

export function readProtocol({ protocol }: WithProtocol): Protocol {
  return {
    warmupRuns: protocol.warmup_runs,
    runs: protocol.runs,
    minRuns: protocol.min_runs,
    timeBudgetMs: protocol.time_budget_ms,
  };
}

export function readLimits({ protocol }: WithProtocol): Limits {
  return {
    timeLimitMs: protocol.time_limit_ms,
    memoryLimitBytes: Math.ceil(protocol.memory_limit_gib * BYTES_PER_GIB),
  };
}

export function agentChoiceOf({ agents, placement }: EvaluationManifest): AgentChoice {
  return { most: mostAgents(agents), placement };
}

const DEFAULTS: WithProtocol = { protocol: protocolField.parse({}) };

export const DEFAULT_PROTOCOL: Protocol = readProtocol(DEFAULTS);
export const DEFAULT_LIMITS: Limits = readLimits(DEFAULTS);
