import { z } from 'zod';
import { isPlausibleMs, PLAUSIBLE_MS } from '../base/plausible-duration.js';
import { conditionsSchema } from './conditions.js';
import { type Limits, limitsSchema, type Protocol, protocolKey, protocolSchema } from './protocol.js';
import { systemSchema } from './system.js';

export const FAILURE_REASONS = ['unsupported', 'out_of_memory', 'timeout', 'crashed', 'run_failed'] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

export const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('samples'),
    runMs: z.array(z.number().nonnegative()).min(1),
    warmupMs: z.array(z.number().nonnegative()),
    /** The profiling overhead in each run; absent without a profile. */
    overheadMs: z.number().nonnegative().optional(),
  }),
  z.strictObject({
    kind: z.literal('failure'),
    reason: z.enum(FAILURE_REASONS),
    message: z.string(),
  }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

/** The context of a benchmark that runs together with others. */
export const contextSchema = z.strictObject({
  /** Bytes that pass through the caches between two runs of the benchmark, so that its data is as warm or cold as in a model. */
  footprintBytes: z.int().min(1),
});

export type Context = z.infer<typeof contextSchema>;

export const measurementSchema = z.strictObject({
  /** A brick's signature, or a whole model's hash. */
  signature: z.string().regex(/^[0-9a-f]{64}$/),
  system: systemSchema,
  protocol: protocolSchema,
  /** Present where it ran together with others in one session; absent where it had a session of its own. */
  context: contextSchema.optional(),
  /** From 1. Each further one is at another time in another process, and shows how repeatable measurements are. */
  occasion: z.int().min(1),
  limits: limitsSchema,
  outcome: outcomeSchema,
  /** Wall time with filling weights, session and warm-up; its share where it ran together with others. */
  costMs: z.number().nonnegative(),
  /** The part of `costMs` for filling weights and creating the session. */
  sessionMs: z.number().nonnegative(),
  peakMemoryBytes: z.number().nonnegative(),
  /** Absent where the operating system does not provide them. */
  conditions: conditionsSchema.optional(),
  /** ISO 8601 in UTC. */
  measuredAt: z.iso.datetime(),
});

export type Measurement = z.infer<typeof measurementSchema>;

/** undefined where times are plausible. Stores accept any, but an estimate of 1e308 ms would be meaningless. */
export function problemWithTimes({ outcome, costMs, sessionMs }: Measurement): string | undefined {
  const times = outcome.kind === 'samples' ? [...outcome.runMs, ...outcome.warmupMs, outcome.overheadMs ?? 0] : [];
  const implausible = [...times, costMs, sessionMs].find((ms) => !isPlausibleMs(ms));
  return implausible === undefined ? undefined : `a time of ${implausible} ms, expected ${PLAUSIBLE_MS}`;
}

/** The subject of a measurement: a benchmark in a context. */
export function subjectKey(signature: string, context: Context | undefined): string {
  return context === undefined ? signature : `${signature} among ${context.footprintBytes} bytes`;
}

export type MeasurementSetup = Pick<Measurement, 'protocol' | 'context' | 'occasion'>;

/** A setup as one short readable key. */
export function setupKey({ protocol, context, occasion }: MeasurementSetup): string {
  const surroundings = context === undefined ? '' : `,footprint=${context.footprintBytes}`;
  return `${protocolKey(protocol)}${surroundings},occasion=${occasion}`;
}

export interface MeasurementKey {
  readonly signature: string;
  readonly system: string;
  readonly setup: string;
}

export function measurementKey(measurement: Measurement): MeasurementKey {
  return {
    signature: measurement.signature,
    system: measurement.system.fingerprint,
    setup: setupKey(measurement),
  };
}

/** The protocol of version 0.1, with keys that are now outside of the protocol. */
interface OlderMeasurement {
  readonly protocol?: Protocol & Limits & { readonly occasion?: number };
}

/** Converts an older version's measurement, without checking it; others stay. Its key is the same in both forms. */
export function upgradedMeasurement(stored: unknown): unknown {
  const { protocol: together, ...rest } = Object(stored) as OlderMeasurement;
  if (together?.occasion === undefined) return stored;
  const { occasion, timeLimitMs, memoryLimitBytes, ...protocol } = together;
  return { ...rest, protocol, occasion, limits: { timeLimitMs, memoryLimitBytes } };
}

export const storedMeasurementSchema = z.preprocess(upgradedMeasurement, measurementSchema);
