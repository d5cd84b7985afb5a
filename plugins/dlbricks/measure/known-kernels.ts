import {
  type CollectionDefinition,
  type Context,
  footprintClass,
  isDisturbed,
  type ResultStore,
  type System,
  unlessUnavailable,
  z,
} from '../../../src/plugin-api.js';
import { brickNeeds } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { brickLatency, groupObservations } from '../estimate/brick-latency.js';
import type { MeasuredKernel } from '../predict/kernel-predictor.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { type MeasureSettings, OCCASIONS, findKnown } from './tasks.js';

const tensorsSchema = z.array(z.strictObject({ elementType: z.string(), dims: z.array(z.int()) }));

/** What a brick of one kernel computes, so that its measurements tell about kernels like it. */
const kernelSchema = z.strictObject({
  signature: z.string(),
  /** The first model that had it, by the signature of its graph. */
  model: z.string(),
  operator: z.string(),
  domain: z.string(),
  attributes: z.record(z.string(), z.union([z.number(), z.string(), z.array(z.number())])),
  inputs: tensorsSchema,
  outputs: tensorsSchema,
  activations: z.array(z.int()),
});

type StoredKernel = z.infer<typeof kernelSchema>;

const KERNELS: CollectionDefinition<StoredKernel> = {
  name: 'dlbricks_kernels',
  schema: kernelSchema,
  key: ['signature'],
  indexes: [],
};

/** Longer attributes are lists of data, on which no latency depends. */
const MAX_LENGTH = 64;

function isShort(value: unknown): value is StoredKernel['attributes'][string] {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return value.length <= MAX_LENGTH;
  return Array.isArray(value) && value.length <= MAX_LENGTH && value.every((item) => Number.isFinite(item));
}

function storedKernel(signature: string, model: string, facts: LayerFacts): StoredKernel {
  const { operator, domain = '', attributes = {}, inputs = [], outputs = [], activations = [] } = facts;
  const short = Object.entries(attributes).flatMap(([name, value]) => (isShort(value) ? [[name, value] as const] : []));
  const tensors = (all: NonNullable<LayerFacts['inputs']>): StoredKernel['inputs'] => {
    return all.map(({ elementType = '', dims }) => ({ elementType, dims: [...dims] }));
  };
  return {
    signature,
    model,
    operator,
    domain,
    attributes: Object.fromEntries(short),
    inputs: tensors(inputs),
    outputs: tensors(outputs),
    activations: [...activations],
  };
}

/**
 * The kernels of some models' bricks. Those of bricks with several kernels, or with subgraphs, say nothing about one,
 * and those whose work values decide nothing about others.
 */
export function describeKernels(
  models: readonly Pick<PreparedModel, 'recipe' | 'facts' | 'whole' | 'graph'>[],
): ReadonlyMap<string, StoredKernel> {
  const found = new Map<string, StoredKernel>();
  for (const { recipe, facts, whole, graph } of models) {
    for (const [index, { signature, context }] of recipe.bricks.entries()) {
      const [only, second] = facts[index] ?? [];
      const isAlone = only !== undefined && second === undefined && context === undefined;
      if (!isAlone || only.isSteered === true || found.has(signature)) continue;
      found.set(signature, storedKernel(signature, graph ?? whole.signature, only));
    }
  }
  return found;
}

/** Keeps what bricks compute, as far as the store does not have it. A store whose server is gone keeps nothing. */
export async function keepKernels(
  store: ResultStore,
  described: ReadonlyMap<string, StoredKernel>,
  known: ReadonlyMap<string, unknown> = new Map(),
): Promise<void> {
  const kernels = [...described.values()].filter(({ signature }) => !known.has(signature));
  if (kernels.length > 0) await unlessUnavailable(store.collection(KERNELS).putMany(kernels));
}

/** All classes of footprints up to a tebibyte. */
function contextsOf({ cacheBytes }: System): readonly Context[] {
  const classes = Array.from({ length: 40 }, (_, power) => footprintClass(2 ** power, cacheBytes));
  return [...new Set(classes)].map((footprintBytes) => ({ footprintBytes }));
}

/**
 * The measured kernels, also where an earlier version measured them, which did not keep what bricks compute.
 *
 * @param described further kernels than those of the store
 */
export async function knownKernels(
  store: ResultStore,
  described: ReadonlyMap<string, StoredKernel>,
  system: System,
  settings: MeasureSettings,
) {
  const kernels = new Map(described);
  const stored = new Map<string, LayerFacts>();
  const read = async (): Promise<void> => {
    for await (const kernel of store.collection(KERNELS).find({})) {
      stored.set(kernel.signature, kernel);
      kernels.set(kernel.signature, kernel);
    }
  };
  await unlessUnavailable(read());
  return { measured: await measuredKernels(kernels, store, system, settings), stored };
}

/**
 * The measurements of some kernels on a system, for predictions of others. Measurements that others disturbed do not
 * count: nothing says how far off they are.
 */
export async function measuredKernels(
  kernels: ReadonlyMap<string, StoredKernel>,
  store: ResultStore,
  system: System,
  settings: MeasureSettings,
): Promise<readonly MeasuredKernel[]> {
  const wanted = contextsOf(system).flatMap((context) => {
    return [...kernels.values()].map((facts) => {
      return { facts, context, brick: { signature: facts.signature, operators: [] } };
    });
  });
  const needs = wanted.map(({ brick, context }) => brickNeeds(brick, context, settings.protocol).benchmark);
  const results = await unlessUnavailable(findKnown(needs, OCCASIONS, system, settings, store));
  const quiet = [...(results?.measurements() ?? [])].filter((measurement) => !isDisturbed(measurement));
  const observations = groupObservations(quiet);
  return wanted.flatMap(({ facts, context, brick }): MeasuredKernel[] => {
    const latency = brickLatency(brick, context, observations);
    return latency.kind === 'unknown' ? [] : [{ facts, ...context, ms: latency.ms, model: facts.model }];
  });
}
