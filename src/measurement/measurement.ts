import { z } from 'zod';
import { conditionsSchema } from './conditions.js';
import { protocolKey, protocolSchema } from './protocol.js';
import { systemSchema } from './system.js';

export const FAILURE_REASONS = ['unsupported', 'out_of_memory', 'timeout', 'crashed', 'run_failed'] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The timed runs in the order in which they were taken, or why there are none. */
export const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('samples'),
    runMs: z.array(z.number().nonnegative()).min(1),
    warmupMs: z.array(z.number().nonnegative()),
  }),
  z.strictObject({
    kind: z.literal('failure'),
    reason: z.enum(FAILURE_REASONS),
    message: z.string(),
  }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

/** One benchmark measured once on one system. (signature, system, protocol) is its key; see {@link measurementKey}. */
export const measurementSchema = z.strictObject({
  /** A brick's signature, or a whole model's hash. */
  signature: z.string().regex(/^[0-9a-f]{64}$/),
  system: systemSchema,
  protocol: protocolSchema,
  outcome: outcomeSchema,
  /** Wall time that it cost in all: filling weights, creating the session, warming up, running. */
  costMs: z.number().nonnegative(),
  /** Of that, filling weights and creating the session. */
  sessionMs: z.number().nonnegative(),
  peakMemoryBytes: z.number().nonnegative(),
  /** Absent where the machine does not tell. */
  conditions: conditionsSchema.optional(),
  /** ISO 8601 in UTC. */
  measuredAt: z.iso.datetime(),
});

export type Measurement = z.infer<typeof measurementSchema>;

/** What is unique per store. */
export interface MeasurementKey {
  readonly signature: string;
  /** The system's fingerprint. */
  readonly system: string;
  /** See {@link protocolKey}. */
  readonly protocol: string;
}

export function measurementKey(measurement: Measurement): MeasurementKey {
  return {
    signature: measurement.signature,
    system: measurement.system.fingerprint,
    protocol: protocolKey(measurement.protocol),
  };
}
