import { z } from 'zod';
import type { ErrorCode } from '../base/errors.js';

export interface Percentile {
  /** Above 0 and below 100. */
  readonly percentage: number;
  /** Absent where there are too few runs to show it. */
  readonly latencyMs?: number | undefined;
  /** Why there is no latency. */
  readonly reason?: string | undefined;
}

export type EvaluationEvent =
  | {
      readonly kind: 'planned';
      /** One line for display. */
      readonly summary: string;
      /** Measurements that the store already has. */
      readonly known: number;
      readonly toMeasure: number;
    }
  | {
      readonly kind: 'measuring';
      readonly done: number;
      readonly total: number;
      readonly label: string;
      /** Estimated time until all of these measurements are taken; undefined where it is unknown. */
      readonly secondsLeft?: number | undefined;
      /** What is counted, in a word or two, where it is not the planned measurements: each step has its own count. */
      readonly step?: string | undefined;
    }
  | {
      /** A model's latency; times in milliseconds, absent where they are unknown. */
      readonly kind: 'estimate';
      readonly model: string;
      readonly latencyMs?: number | undefined;
      readonly lowMs?: number | undefined;
      readonly highMs?: number | undefined;
      /** Share of the model that is measured, 0 to 1. */
      readonly coverage: number;
      /** The estimate's system, in a few words, where the evaluation has several systems. */
      readonly system?: string | undefined;
      /** Percentiles of the model's runs, where the plugin times whole models. */
      readonly percentiles?: readonly Percentile[] | undefined;
    }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly message: string }
  | {
      readonly kind: 'done';
      /** The result document: plain data, as JSON can hold it. */
      readonly result: unknown;
      /** A part of the result is missing; the document names it. */
      readonly partial: boolean;
    };

const ERROR_CODES = [
  'usage',
  'manifest',
  'model',
  'unsupported',
  'not_found',
  'unavailable',
  'exhausted',
  'unauthenticated',
  'forbidden',
  'timeout',
  'cancelled',
  'storage',
  'internal',
] as const satisfies readonly ErrorCode[];

/** Longest result document, as JSON. MongoDB's documents hold 16 MB. */
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
    step: z.string().max(MAX_STEP).optional(),
  }),
  z.strictObject({
    kind: z.literal('estimate'),
    model: text,
    latencyMs: ms,
    lowMs: ms,
    highMs: ms,
    coverage: z.number().min(0).max(1),
    system: text.optional(),
    percentiles: z
      .array(z.strictObject({ percentage: z.number().gt(0).lt(100), latencyMs: ms, reason: text.optional() }))
      .max(MAX_PERCENTILES)
      .optional(),
  }),
  z.strictObject({ kind: z.literal('note'), level: z.enum(['info', 'warning']), message: text }),
  z.strictObject({ kind: z.literal('failed'), code: z.enum(ERROR_CODES), message: text }),
  z.strictObject({ kind: z.literal('cancelled') }),
] as const;

export const pluginEventSchema = z.discriminatedUnion('kind', [...otherPluginEvents, done]);

export type PluginEvent = z.infer<typeof pluginEventSchema>;

export const platformEventSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('waiting'), reason: text }),
  z.strictObject({
    kind: z.literal('started'),
    plugin: text,
    pluginVersion: text,
    agent: text,
    // Absent in events of older servers.
    framework: text.optional(),
    frameworkVersion: text.optional(),
    attempt: count,
  }),
  ...otherPluginEvents,
  // Stored with its result; sent without it to readers without access to the result.
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

export function isErrorCode(text: string): text is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(text);
}

function clipped(message: string): string {
  return message.length <= MAX_TEXT ? message : `${message.slice(0, MAX_TEXT - 1)}…`;
}

export function waiting(reason: string): PlatformEvent & { readonly kind: 'waiting' } {
  return { kind: 'waiting', reason: clipped(reason) };
}

export function failure(code: ErrorCode, message: string): PluginEvent & FinalEvent {
  return { kind: 'failed', code, message: clipped(message) };
}

export function checkPluginEvent(event: EvaluationEvent): PluginEvent {
  switch (event.kind) {
    case 'planned':
      return { ...event, summary: clipped(event.summary) };
    case 'measuring':
      return { ...event, label: clipped(event.label) };
    case 'estimate': {
      const { percentiles, ...estimate } = { ...event, model: clipped(event.model) };
      if (percentiles === undefined) return estimate;
      const known = percentiles.map(({ reason, ...percentile }) => {
        return reason === undefined ? percentile : { ...percentile, reason: clipped(reason) };
      });
      return { ...estimate, percentiles: known };
    }
    case 'note':
      return { ...event, message: clipped(event.message) };
    case 'done':
      return { kind: 'done', resultJson: JSON.stringify(event.result ?? null), partial: event.partial };
  }
}
