import { z } from 'zod';
import type { ResultStore } from '../store/result-store.js';
import { platformEventSchema } from './event.js';

// Everything that a restarted server needs to continue evaluations.

export const EVALUATION_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

export type EvaluationState = (typeof EVALUATION_STATES)[number];

const recordSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  plugin: z.string(),
  state: z.enum(EVALUATION_STATES),
  /**
   * SHA-256 of the submission in hexadecimal. The same id with another digest is a mistake, with the same one a retry.
   */
  digest: z.string(),
  /** How often a plugin was given it. */
  attempts: z.int().min(0),
  submittedAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
  traceContext: z.record(z.string(), z.string()),
});

/** What others see of an evaluation. */
export const evaluationSchema = recordSchema.omit({ digest: true, attempts: true, traceContext: true });

export type EvaluationSummary = Readonly<z.infer<typeof evaluationSchema>>;

export type EvaluationRecord = Readonly<z.infer<typeof recordSchema>>;

export function evaluationHasEnded({ state }: EvaluationRecord): boolean {
  return state !== 'queued' && state !== 'running';
}

const partSchema = z.strictObject({
  evaluation: z.string(),
  /** Its index with leading zeros. */
  part: z.string(),
  /** Base64 of a part of the encoded submission. */
  content: z.string(),
});

const arrivalSchema = z.strictObject({ evaluation: z.string() });

const eventSchema = z.strictObject({
  evaluation: z.string(),
  /** The sequence number with leading zeros. */
  sequence: z.string().regex(/^\d{12}$/),
  at: z.iso.datetime(),
  event: platformEventSchema,
});

export type EventDocument = Readonly<z.infer<typeof eventSchema>>;

export function eventKey(evaluation: string, sequence: number): Pick<EventDocument, 'evaluation' | 'sequence'> {
  return { evaluation, sequence: String(sequence).padStart(12, '0') };
}

export type SubmissionPart = Readonly<z.infer<typeof partSchema>>;

type Arrival = Readonly<z.infer<typeof arrivalSchema>>;

export type EvaluationCollections = ReturnType<typeof evaluationCollections>;

/** All of them are momentary: while the database is away, other servers may continue what this one has. */
export function evaluationCollections(store: ResultStore) {
  return {
    records: store.collection<EvaluationRecord>({
      name: 'submitted_evaluations',
      schema: recordSchema,
      key: ['id'],
      indexes: [['state']],
      isMomentary: true,
    }),
    parts: store.collection<SubmissionPart>({
      name: 'submission_parts',
      schema: partSchema,
      key: ['evaluation', 'part'],
      indexes: [],
      isMomentary: true,
    }),
    /** Their parts may have no record, because the server ended while it stored them. */
    arrivals: store.collection<Arrival>({
      name: 'arriving_submissions',
      schema: arrivalSchema,
      key: ['evaluation'],
      indexes: [],
      isMomentary: true,
    }),
    events: store.collection<EventDocument>({
      name: 'evaluation_events',
      schema: eventSchema,
      key: ['evaluation', 'sequence'],
      indexes: [],
      isMomentary: true,
    }),
    /** The server that runs the cancelled evaluation must still stop it. */
    cancellations: store.collection<Arrival>({
      name: 'cancelled_evaluations',
      schema: arrivalSchema,
      key: ['evaluation'],
      indexes: [],
      isMomentary: true,
    }),
  };
}
