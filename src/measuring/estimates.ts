import { z } from 'zod';
import { collect } from '../base/collect.js';
import { sha256Of } from '../base/sha256.js';
import { type EstimatedBricks, estimatedBricks } from '../measurement/estimated-bricks.js';
import { type System, systemSchema } from '../measurement/system.js';
import type { Collection, CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';

const ms = z.number().nonnegative().nullable();

export const estimateSchema = z.strictObject({
  /** SHA-256 of what is estimated how: plugin, model, version, graph, system, batch, dimensions and settings. */
  subject: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
  /** The newest of its subject has it; after a crash or an import, others may have it too. */
  current: z.literal('yes').optional(),
  plugin: z.string(),
  model: z.string(),
  /** As in its manifest; null without one. */
  version: z.string().nullable(),
  /** Signature of the graph without its name; null where only a recipe was at hand. */
  graph: z.string().nullable(),
  system: z.string(),
  batch: z.int(),
  /** As in seq=128, past=0; '' for none. */
  dimensions: z.string(),
  settings: z.string(),
  latencyMs: ms,
  lowMs: ms,
  highMs: ms,
  /** The whole model as it was measured beside the estimate; null where it was not. */
  wholeMs: ms,
  coverage: z.number().min(0).max(1),
  /** Why there is no latency, or no complete one. */
  reason: z.string().nullable(),
});

export type KeptEstimate = Readonly<z.infer<typeof estimateSchema>>;

export type NewEstimate = Omit<KeptEstimate, 'subject' | 'at' | 'current' | 'system'> & {
  readonly parts?: EstimatedBricks | undefined;
};

type Estimated = NewEstimate & Pick<KeptEstimate, 'system'>;

const ESTIMATES: CollectionDefinition<KeptEstimate> = {
  name: 'estimates',
  schema: estimateSchema,
  key: ['subject', 'at'],
  indexes: [['current']],
};

type EstimatesStore = Pick<ResultStore, 'collection'>;

/** The systems of the estimates. Those of bricks are others, because bricks run with the optimizer off. */
const SYSTEMS: CollectionDefinition<System> = {
  name: 'estimated_systems',
  schema: systemSchema,
  key: ['fingerprint'],
  indexes: [],
};

const partsSchema = z.strictObject({ subject: estimateSchema.shape.subject, ...estimatedBricks });

/** The parts of the newest estimate of each subject. */
const PARTS: CollectionDefinition<Readonly<z.infer<typeof partsSchema>>> = {
  name: 'estimated_bricks',
  schema: partsSchema,
  key: ['subject'],
  indexes: [],
};

const MAX_OF_SUBJECT = 200;

const MAX_TEXT_LENGTH = 1000;

function clipped(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`;
}

function isSameValue(one: KeptEstimate, other: NewEstimate): boolean {
  const values = ({ latencyMs, lowMs, highMs, wholeMs, coverage, reason }: NewEstimate): string => {
    return JSON.stringify([latencyMs, lowMs, highMs, wholeMs, coverage, reason]);
  };
  return values(one) === values(other);
}

async function keep(
  store: EstimatesStore,
  { parts, ...found }: Estimated,
  at: string,
  earlierOf: (subject: string) => Promise<readonly KeptEstimate[]>,
): Promise<void> {
  const estimates = store.collection(ESTIMATES);
  const ofSubject = store.collection(PARTS);
  const { plugin, model, version, graph, system, batch, dimensions, settings, reason } = found;
  const subject = sha256Of(JSON.stringify([plugin, model, version, graph, system, batch, dimensions, settings]));
  const document: KeptEstimate = {
    ...found,
    model: clipped(model),
    version: version && clipped(version),
    dimensions: clipped(dimensions),
    settings: clipped(settings),
    reason: reason && clipped(reason),
    subject,
    at,
    current: 'yes',
  };
  const earlier = await earlierOf(subject);
  const newest = earlier.at(-1);
  if (newest !== undefined && newest.coverage > document.coverage) return;
  if (newest !== undefined && isSameValue(newest, document)) {
    // Estimates of earlier versions have no parts.
    if (parts !== undefined && (await ofSubject.get({ subject })) === undefined)
      await ofSubject.put({ subject, ...parts });
    return;
  }
  await estimates.put(document);
  if (parts !== undefined) await ofSubject.put({ subject, ...parts });
  for (const { current, ...old } of earlier) if (current !== undefined && old.at !== at) await estimates.put(old);
  for (const { at: oldest } of earlier.slice(0, -MAX_OF_SUBJECT)) await estimates.delete({ subject, at: oldest });
}

function readHistory(estimates: Pick<Collection<KeptEstimate>, 'find'>, subject: string): Promise<KeptEstimate[]> {
  return collect(estimates.find({ subject }));
}

/** Writes only a system that is not there yet, so that a run without news leaves the store as it is. */
async function keepSystem(systems: Collection<System>, system: System): Promise<void> {
  const { fingerprint } = system;
  if ((await unlessUnavailable(systems.get({ fingerprint }))) === undefined) await systems.put(system);
}

/** Keeps only what differs from the newest and covers as much. Where the store's server is gone, it is kept here. */
export async function keepEstimates(store: ResultStore, system: System, found: readonly NewEstimate[]): Promise<void> {
  if (store.isReadOnly === true || found.length === 0) return;
  const estimates = store.collection(ESTIMATES);
  const at = new Date().toISOString();
  await unlessUnavailable(keepSystem(store.collection(SYSTEMS), system));
  let isUnavailable = false;
  const readEarlier = async (subject: string): Promise<readonly KeptEstimate[]> => {
    const earlier = isUnavailable ? undefined : await unlessUnavailable(readHistory(estimates, subject));
    isUnavailable = earlier === undefined;
    return earlier ?? [];
  };
  for (const estimate of found)
    await unlessUnavailable(keep(store, { ...estimate, system: system.fingerprint }, at, readEarlier));
}

export async function currentEstimates(store: EstimatesStore): Promise<readonly KeptEstimate[]> {
  const newest = new Map<string, KeptEstimate>();
  for await (const estimate of store.collection(ESTIMATES).find({ current: 'yes' })) {
    const other = newest.get(estimate.subject);
    if (other === undefined || other.at < estimate.at) newest.set(estimate.subject, estimate);
  }
  return [...newest.values()];
}

/** The parts of the newest estimate of a subject; undefined for one of an earlier version. */
export async function estimatedParts(store: EstimatesStore, subject: string): Promise<EstimatedBricks | undefined> {
  return store.collection(PARTS).get({ subject });
}

export function estimateHistory(store: EstimatesStore, subject: string): Promise<readonly KeptEstimate[]> {
  return readHistory(store.collection(ESTIMATES), subject);
}

export async function estimatedSystems(store: EstimatesStore): Promise<ReadonlyMap<string, System>> {
  const systems = new Map<string, System>();
  for await (const system of store.collection(SYSTEMS).find({})) systems.set(system.fingerprint, system);
  return systems;
}
