import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { collect } from '../base/collect.js';
import { sha256Of } from '../base/sha256.js';
import type { MeasuredLayer, TracedModel } from '../foreign-traces/collect-models.js';
import { kernelMemorySchema, poolSchema } from '../measurement/kernel-facts-schema.js';
import { systemSchema } from '../measurement/system.js';
import type { Collection, CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';
import { nameOf } from './model-name.js';

/** Keys of a store are short. */
const MAX_NAME_LENGTH = 200;

const trace = z.string().regex(/^[0-9a-f]{32}$/);
const ms = z.array(z.number().nonnegative());

const tensorsSchema = z.array(
  z.strictObject({ elementType: z.string().optional(), dims: z.array(z.int().nonnegative()) }),
);

const modelSchema = z.strictObject({
  /** Of the system, the name and the content, so that importing it again changes nothing. */
  trace,
  system: z.string().min(1).max(MAX_NAME_LENGTH),
  model: z.string().min(1).max(MAX_NAME_LENGTH),
  source: z.string(),
  /** Absent without ids, and in stores of earlier versions. */
  traceIds: z.array(z.string()).optional(),
  importedAt: z.iso.datetime(),
  order: z.int().nonnegative(),
  wholeMs: ms,
  tracedWholeMs: ms,
  /** Of `trace model`; absent for imported ones. */
  traced: z.strictObject({ system: systemSchema, host: z.string(), batch: z.int().min(1) }).optional(),
});

const layerSchema = z.strictObject({
  trace,
  position: z.string().regex(/^\d{6}$/),
  index: z.string(),
  last: z.int().nonnegative().optional(),
  granularity: z.int().min(1).optional(),
  name: z.string(),
  operator: z.string(),
  signature: z.string().optional(),
  attributes: z.record(z.string(), z.unknown()).optional(),
  inputs: tensorsSchema.optional(),
  outputs: tensorsSchema.optional(),
  operations: z.number().nonnegative().optional(),
  bytes: z.number().nonnegative().optional(),
  order: z.int().nonnegative().optional(),
  memory: kernelMemorySchema.optional(),
  pool: poolSchema.optional(),
  sources: z
    .array(
      z.strictObject({
        index: z.int().nonnegative(),
        name: z.string(),
        operator: z.string(),
        share: z.number().min(0).max(1),
      }),
    )
    .optional(),
  after: z.array(z.int().nonnegative()).optional(),
  samplesMs: ms,
  runs: z.int().nonnegative(),
});

export type StoredModel = z.infer<typeof modelSchema>;
export type StoredLayer = z.infer<typeof layerSchema>;

export const TRACED_MODELS: CollectionDefinition<StoredModel> = {
  name: 'traced_models',
  schema: modelSchema,
  key: ['trace'],
  indexes: [['system']],
};

export const TRACED_LAYERS: CollectionDefinition<StoredLayer> = {
  name: 'traced_layers',
  schema: layerSchema,
  key: ['trace', 'position'],
  indexes: [],
};

/** What identified a layer before there were facts, so that importing a file again changes nothing. */
function withoutFacts({ memory: _, pool: __, order: ___, ...layer }: MeasuredLayer): object {
  return layer;
}

/**
 * Idempotent. @param models their systems are known @throws PlatformError `usage` for names that are too long;
 * `storage`
 */
export async function storeTraces(
  models: readonly TracedModel[],
  store: ResultStore,
  importedAt: Date,
  traced?: StoredModel['traced'],
): Promise<void> {
  for (const [order, model] of models.entries()) {
    const { system = '', source, traceIds, layers, wholeMs, tracedWholeMs } = model;
    const name = nameOf(model);
    for (const [what, text] of [
      ['system', system],
      ['model', name],
    ] as const) {
      if (text.length > MAX_NAME_LENGTH) {
        throw new PlatformError(
          'usage',
          `${source}: the name of the ${what} has ${text.length} characters; ${MAX_NAME_LENGTH} at most are kept`,
        );
      }
    }
    const id = sha256Of(JSON.stringify([system, name, layers.map(withoutFacts), wholeMs, tracedWholeMs])).slice(0, 32);
    const stored = layers.map((layer, i) => ({ trace: id, position: String(i).padStart(6, '0'), ...layer }));
    // A document holds only JSON values.
    await store.collection(TRACED_LAYERS).putMany(JSON.parse(JSON.stringify(stored)) as StoredLayer[]);
    // The model is stored last, so that a stored model has all of its layers.
    await store.collection(TRACED_MODELS).put({
      trace: id,
      system,
      model: name,
      source,
      ...(traceIds.length > 0 && { traceIds: [...traceIds] }),
      importedAt: importedAt.toISOString(),
      order,
      wholeMs: [...wholeMs],
      tracedWholeMs: [...tracedWholeMs],
      ...(traced && { traced }),
    });
  }
}

export async function storedSystems(store: ResultStore): Promise<readonly string[]> {
  const systems = new Set<string>();
  for await (const { system, traced } of store.collection(TRACED_MODELS).find({})) {
    if (traced === undefined) systems.add(system);
  }
  return [...systems].sort();
}

/** In the order of their import. */
export async function readStoredTraces(store: ResultStore, system: string): Promise<readonly TracedModel[]> {
  const found = await collect(store.collection(TRACED_MODELS).find({ system }));
  found.sort((a, b) => (a.importedAt < b.importedAt ? -1 : a.importedAt > b.importedAt ? 1 : a.order - b.order));
  const models: TracedModel[] = [];
  for (const { trace: id, traced, model, source, traceIds = [], wholeMs, tracedWholeMs } of found) {
    if (traced !== undefined) continue;
    const layers = await layersOfTrace(store, id);
    models.push({ model, system, source, traceIds, layers, wholeMs, tracedWholeMs });
  }
  return models;
}

interface Readable {
  collection<Document extends object>(
    definition: CollectionDefinition<Document>,
  ): Pick<Collection<Document>, 'get' | 'find'>;
}

export function layersOfTrace(store: Readable, id: string): Promise<readonly StoredLayer[]> {
  return collect(store.collection(TRACED_LAYERS).find({ trace: id }));
}

/** The newest first. */
export async function storedTraces(store: Readable): Promise<readonly StoredModel[]> {
  const found = await collect(store.collection(TRACED_MODELS).find({}));
  return found.sort((a, b) => (a.importedAt < b.importedAt ? 1 : a.importedAt > b.importedAt ? -1 : a.order - b.order));
}
