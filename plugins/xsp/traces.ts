import {
  type AnalysisTable,
  computeByteLength,
  elementCount,
  isElementType,
  layersOfTrace,
  countOperations,
  ownValue,
  type Peaks,
  PlatformError,
  type ReadableStore,
  computeRidge,
  type StoredLayer,
  type StoredModel,
  storedPeaks,
  storedTraces,
  sumOf,
  type System,
  totalOperations,
  trimmedMean,
  z,
} from '../../src/plugin-api.js';

export const settingsSchema = z.strictObject({
  model: z.string().min(1).optional(),
  /** A part of the name; default: all. */
  system: z.string().min(1).optional(),
  /** The first digits of the fingerprint of a system in the store, whose peaks count for imported traces. */
  machine: z
    .union([z.string(), z.int()])
    .transform(String)
    .pipe(z.string().regex(/^[0-9a-f]{4,64}$/))
    .optional(),
  batch: z.int().min(1).optional(),
  base: z.boolean().default(false),
});

export type XspSettings = z.infer<typeof settingsSchema>;

export type Kernel = ReturnType<typeof buildKernel>;

export interface Trace {
  readonly stored: StoredModel;
  readonly batch: number | null;
  readonly peaks: Peaks;
  readonly ridge: number | undefined;
  readonly kernels: readonly Kernel[];
  /** Without tracing, ms; undefined where only traced runs are known. */
  readonly modelMs: number | undefined;
  readonly tracedMs: number | undefined;
  readonly kernelsMs: number;
}

export function ratio(a: number | null | undefined, b: number | null | undefined): number | null {
  return a == null || b == null || b === 0 ? null : a / b;
}

export function percentOf(a: number | null | undefined, b: number | null | undefined): number | null {
  const share = ratio(a, b);
  return share === null ? null : 100 * share;
}

export function sumOrNull(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : sumOf(known);
}

type Tensors = StoredLayer['inputs'];

function countBytes(tensors: Tensors): number | null {
  return sumOrNull(
    (tensors ?? [{ dims: [] }]).map(({ elementType = '', dims }) =>
      isElementType(elementType) ? computeByteLength(elementType, elementCount(dims)) : null,
    ),
  );
}

function countFlops({ operator, inputs, outputs, attributes = {} }: StoredLayer): number | null {
  const value = (name: string): unknown => ownValue(attributes, name);
  const found = countOperations({
    operator,
    inputs: (inputs ?? []).map(({ dims }) => dims),
    outputs: (outputs ?? []).map(({ dims }) => dims),
    integer: (name) => {
      const one = value(name);
      return typeof one === 'number' ? one : undefined;
    },
    integers: (name) => {
      const list = value(name);
      return Array.isArray(list) && list.every((one) => typeof one === 'number') ? list : undefined;
    },
  });
  return found === undefined ? null : totalOperations(found);
}

export function shapeOf(tensors: Tensors): string {
  return (tensors ?? []).map(({ dims }) => `[${dims.join(',')}]`).join(';');
}

export function boundBy(intensity: number | null, ridge: number | undefined): boolean | null {
  return intensity === null || ridge === undefined ? null : intensity < ridge;
}

function buildKernel(layer: StoredLayer, ridge: number | undefined) {
  const { samplesMs, inputs, outputs, memory, pool, operations } = layer;
  const ms = samplesMs.length === 0 ? 0 : trimmedMean(samplesMs);
  const flops = operations ?? countFlops(layer);
  const stated = memory?.parameterBytes !== undefined && memory.activationBytes !== undefined;
  const readBytes = stated ? (memory.parameterBytes ?? 0) + (memory.activationBytes ?? 0) : countBytes(inputs);
  const writeBytes = memory?.outputBytes ?? countBytes(outputs);
  const intensity = ratio(flops, sumOrNull([readBytes, writeBytes]));
  const waited = pool === undefined ? 0 : pool.runUs + pool.waitUs;
  return {
    layer,
    ms,
    shape: shapeOf(outputs),
    elementType: outputs?.[0]?.elementType ?? '',
    /** null where a shape or attribute is not known, or the operator is not counted. */
    flops,
    readBytes,
    writeBytes,
    /** Operations for each byte. */
    intensity,
    /** 10⁹ operations in a second. */
    gflops: ratio(flops, ms * 1e6),
    memoryBound: boundBy(intensity, ridge),
    /** Share of the thread pool's time in which the main thread computed; null without a pool. */
    occupancyPercent: pool === undefined || waited === 0 ? null : (100 * pool.runUs) / waited,
  };
}

function comparePlaces(a: StoredLayer, b: StoredLayer): number {
  if (a.order !== undefined && b.order !== undefined) return a.order - b.order;
  return a.position < b.position ? -1 : 1;
}

async function findMachine(machine: string, store: ReadableStore): Promise<System> {
  const systems = (await store.listSystems()).filter(({ fingerprint }) => fingerprint.startsWith(machine));
  const [system] = systems;
  if (system === undefined || systems.length > 1) {
    const problem = systems.length > 1 ? 'is the beginning of several systems' : 'is no system of the store';
    throw new PlatformError('usage', `machine ${machine} ${problem}; 'mlmodelscope store info' lists them`);
  }
  return system;
}

async function peaksFor({ traced }: StoredModel, machine: System | undefined, store: ReadableStore): Promise<Peaks> {
  const system = traced?.system ?? machine;
  return system === undefined ? new Map() : storedPeaks(store, system, system.runOptions);
}

const MAX_LISTED = 10;

/** @throws PlatformError `usage` where there is none, with what there is instead */
function selectModels(all: readonly StoredModel[], { model, system, batch }: XspSettings): readonly StoredModel[] {
  const refuse = (what: string, known: readonly StoredModel[], valueOf: (one: StoredModel) => string): never => {
    const there = [...new Set(known.map(valueOf))].slice(0, MAX_LISTED).join(', ');
    const advice =
      there === ''
        ? "run 'mlmodelscope trace model MODEL', or import a profile with 'dlbricks import'"
        : `there are ${there}`;
    throw new PlatformError('usage', `the store has no trace${what}; ${advice}`);
  };
  const of = model === undefined ? '' : ` of ${model}`;
  const ofModel = all.filter((one) => model === undefined || one.model === model);
  if (ofModel.length === 0) return refuse(of, all, (one) => one.model);
  const on = system === undefined ? '' : ` on ${system}`;
  const onSystem = ofModel.filter((one) => system === undefined || one.system.includes(system));
  if (onSystem.length === 0) return refuse(`${of}${on}`, ofModel, (one) => one.system);
  // An imported trace does not state its batch.
  const ofBatch = onSystem.filter(({ traced }) => batch === undefined || (traced?.batch ?? batch) === batch);
  if (ofBatch.length > 0) return ofBatch;
  return refuse(`${of}${on} with batch ${batch}`, onSystem, ({ traced }) => `batch ${traced?.batch}`);
}

export async function tracesFor(settings: XspSettings, store: ReadableStore): Promise<readonly Trace[]> {
  const { machine } = settings;
  // Also where only imported traces use it.
  const given = machine === undefined ? undefined : await findMachine(machine, store);
  const all = await storedTraces(store);
  const asked = selectModels(all, settings);
  const newest = new Map<string, StoredModel>();
  for (const one of asked) {
    const key = JSON.stringify([one.model, one.system, one.traced?.batch, one.traced?.system.fingerprint]);
    if (!newest.has(key)) newest.set(key, one);
  }
  const traces: Trace[] = [];
  for (const stored of newest.values()) {
    const peaks = await peaksFor(stored, given, store);
    const ridge = computeRidge(peaks);
    const layers = [...(await layersOfTrace(store, stored.trace))].sort(comparePlaces);
    const kernels = layers.map((layer) => buildKernel(layer, ridge));
    const computeMean = (times: readonly number[]): number | undefined =>
      times.length === 0 ? undefined : trimmedMean(times);
    traces.push({
      stored,
      batch: stored.traced?.batch ?? settings.batch ?? null,
      peaks,
      ridge,
      kernels,
      modelMs: computeMean(stored.wholeMs),
      tracedMs: computeMean(stored.tracedWholeMs),
      kernelsMs: sumOf(kernels.map(({ ms }) => ms)),
    });
  }
  return traces.sort((a, b) => (a.batch ?? 0) - (b.batch ?? 0));
}

export type Column = AnalysisTable['columns'][number];
