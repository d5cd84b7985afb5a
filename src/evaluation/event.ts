import { z } from 'zod';
import { type ErrorCode, EXIT_CODES, messageOf, PlatformError } from '../base/errors.js';

/** As JSON. MongoDB's documents hold 16 MB. */
export const MAX_RESULT_BYTES = 12 * 2 ** 20;

const MAX_TEXT = 20_000;

const MAX_PERCENTILES = 100;

const MAX_STEP = 40;

const text = z.string().max(MAX_TEXT);
const count = z
  .int()
  .min(0)
  .max(2 ** 32 - 1);
const ms = z.number().nonnegative().optional();

const resultJson = z.string().max(MAX_RESULT_BYTES);
const done = z.strictObject({ kind: z.literal('done'), resultJson, partial: z.boolean() });

const otherPluginEvents = [
  z.strictObject({ kind: z.literal('planned'), summary: text, known: count, toMeasure: count }),
  z.strictObject({
    kind: z.literal('measuring'),
    done: count,
    total: count,
    label: text,
    secondsLeft: z.number().nonnegative().optional(),
    /** What is counted, where it is not the planned measurements. */
    step: z.string().max(MAX_STEP).optional(),
  }),
  z.strictObject({
    kind: z.literal('estimate'),
    model: text,
    /** Times are absent where unknown. */
    latencyMs: ms,
    lowMs: ms,
    highMs: ms,
    /** Measured share of the model. */
    coverage: z.number().min(0).max(1),
    system: text.optional(),
    /** Where the plugin times whole models; the reason says why there is no latency, for example too few runs. */
    percentiles: z
      .array(z.strictObject({ percentage: z.number().gt(0).lt(100), latencyMs: ms, reason: text.optional() }))
      .max(MAX_PERCENTILES)
      .optional(),
  }),
  z.strictObject({ kind: z.literal('note'), level: z.enum(['info', 'warning']), message: text }),
  z.strictObject({ kind: z.literal('failed'), code: z.enum(Object.keys(EXIT_CODES) as ErrorCode[]), message: text }),
  z.strictObject({ kind: z.literal('cancelled') }),
] as const;

export const pluginEventSchema = z.discriminatedUnion('kind', [...otherPluginEvents, done]);

export type PluginEvent = z.infer<typeof pluginEventSchema>;

/** As plugins tell it: the result is plain data, as JSON can hold it. */
export type EvaluationEvent =
  | Readonly<Exclude<PluginEvent, { readonly kind: 'done' | 'failed' | 'cancelled' }>>
  | { readonly kind: 'done'; readonly result: unknown; readonly partial: boolean };

export const platformEventSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('waiting'), reason: text }),
  z.strictObject({
    kind: z.literal('started'),
    plugin: text,
    pluginVersion: text,
    agent: text,
    framework: text.optional(),
    frameworkVersion: text.optional(),
    attempt: count,
  }),
  ...otherPluginEvents,
  // Sent without its result to readers without access to it.
  done.extend({ resultJson: resultJson.optional() }),
]);

export type PlatformEvent = z.infer<typeof platformEventSchema>;

export type FinalEvent = Extract<PlatformEvent, { readonly kind: 'done' | 'failed' | 'cancelled' }>;

export interface LoggedEvent {
  /** From 1. */
  readonly sequence: number;
  readonly at: string;
  readonly event: PlatformEvent;
}

export function isFinal<Event extends PlatformEvent>(event: Event): event is Event & FinalEvent {
  return event.kind === 'done' || event.kind === 'failed' || event.kind === 'cancelled';
}

function clipped(message: string): string {
  return message.length <= MAX_TEXT ? message : `${message.slice(0, MAX_TEXT - 1)}…`;
}

export function waiting(reason: string): PlatformEvent & { readonly kind: 'waiting' } {
  return { kind: 'waiting', reason: clipped(reason) };
}

export function note(level: 'info' | 'warning', message: string): PluginEvent & { readonly kind: 'note' } {
  return { kind: 'note', level, message: clipped(message) };
}

export function failure(code: ErrorCode, message: string): PluginEvent & FinalEvent {
  return { kind: 'failed', code, message: clipped(message) };
}

export function toFailure(error: unknown): PluginEvent & FinalEvent {
  return failure(error instanceof PlatformError ? error.code : 'internal', messageOf(error));
}

/** JSON itself would make null of NaN and Infinity. @throws Error for what JSON cannot hold, with its place */
function toJson(result: unknown): string {
  const places = new Map<unknown, string>();
  return JSON.stringify(result ?? null, function (this: unknown, key, value: unknown) {
    const above = places.get(this);
    const place = above === undefined ? 'result' : `${above}.${key}`;
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${place}: JSON has no ${value}`);
    if (typeof value === 'object') places.set(value, place);
    return value;
  });
}

function withClippedTexts<Value>(value: Value): Value {
  if (typeof value === 'string') return clipped(value) as Value;
  if (Array.isArray(value)) return value.map(withClippedTexts) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withClippedTexts(one)])) as Value;
}

/** @throws Error for a result that JSON cannot hold */
export function checkPluginEvent(event: EvaluationEvent): PluginEvent {
  if (event.kind !== 'done') return withClippedTexts(event);
  return { kind: 'done', resultJson: toJson(event.result), partial: event.partial };
}
