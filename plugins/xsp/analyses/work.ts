import { sumOf, type StoredLayer } from '../../../src/plugin-api.js';
import { type Field, number, rowsOf, text, xspAnalysis } from '../analysis.js';
import { drawRoofline, drawRows } from '../draw.js';
import { type Kernel, sumOrNull, type Trace } from '../traces.js';
import { computeRoof, INTENSITY, ROOF, sumWork, WORK, WORK_NOTE } from '../work.js';

/** A layer of the author with its parts of kernels; of a trace that does not tell them, a kernel. */
interface Layer {
  readonly index: number | null;
  readonly name: string;
  readonly operator: string;
  readonly parts: readonly Kernel[];
}

const LAYER: readonly Field<[Omit<Layer, 'parts'>]>[] = [
  [number('layer_index', 'index'), ({ index }) => index],
  [text('layer_name', 'name'), ({ name }) => name],
  [text('layer_type', 'type'), ({ operator }) => operator],
];

function takeShare(kernel: Kernel, share: number): Kernel {
  const { layer, ms, flops, readBytes, writeBytes } = kernel;
  const { pool } = layer;
  const of = (value: number | null): number | null => (value === null ? null : share * value);
  const ofPool = pool && {
    runUs: share * pool.runUs,
    waitUs: share * pool.waitUs,
    distributionUs: share * pool.distributionUs,
  };
  return {
    ...kernel,
    layer: { ...layer, pool: ofPool },
    ms: share * ms,
    flops: of(flops),
    readBytes: of(readBytes),
    writeBytes: of(writeBytes),
  };
}

function named({ name, operator }: Pick<Layer, 'name' | 'operator'>): Pick<Layer, 'name' | 'operator'> {
  return { name, operator };
}

/** In the author's order; kernels that compute none of these come last, without an index. */
function groupByLayer({ kernels }: Trace): readonly Layer[] {
  if (kernels.every(({ layer }) => layer.sources === undefined)) {
    return kernels.map((kernel, index) => ({ ...named(kernel.layer), index, parts: [kernel] }));
  }
  const layers = new Map<number, Layer & { readonly parts: Kernel[] }>();
  const others: Layer[] = [];
  for (const kernel of kernels) {
    const { sources = [] } = kernel.layer;
    if (sources.length === 0) others.push({ ...named(kernel.layer), index: null, parts: [kernel] });
    for (const source of sources) {
      const layer = layers.get(source.index) ?? { ...named(source), index: source.index, parts: [] };
      layers.set(source.index, layer);
      layer.parts.push(takeShare(kernel, source.share));
    }
  }
  return [...[...layers].sort(([a], [b]) => a - b).map(([, layer]) => layer), ...others];
}

const NOTES = [
  "Layers of a stored trace are those of the author, in the author's order. Layers that one kernel computes share its time and work by their operations. Kernels without an index compute no layer of the author, such as changes of layout.",
  "Work is that of kernels as the runtime executes them: without fused activations, and with what fills blocked layouts. 'mlmodelscope dlbricks layers' counts the work of the author's graph.",
  'Layers of an imported trace are what the runtime executed: one kernel each.',
];

type LayerWork = Layer & ReturnType<typeof sumWork>;

/** A row for each layer, with the work of its parts. */
function layerRows(...own: readonly Field<[LayerWork]>[]) {
  return rowsOf(
    (trace: Trace) => groupByLayer(trace).map((layer): LayerWork => ({ ...layer, ...sumWork(layer.parts, trace) })),
    ...LAYER,
    ...own,
  );
}

function microseconds({ parts }: Layer): number {
  return 1000 * sumOf(parts.map(({ ms }) => ms));
}

function sumPools({ parts }: Layer, usOf: (pool: NonNullable<StoredLayer['pool']>) => number): number | null {
  return sumOrNull(parts.map(({ layer: { pool } }) => (pool === undefined ? null : usOf(pool))));
}

export const layerKernels = xspAnalysis({
  name: 'layer-kernels',
  description: "A11: time of each of the author's layers, what its kernels do with it, and their work",
  level: 'SYSTEM_LIBRARY_TRACE',
  ...layerRows(
    [number('layer_duration', 'duration', 'µs'), microseconds],
    [number('layer_gpu_duration', 'GPU', 'µs'), () => null],
    [number('layer_cpu_duration', 'processor', 'µs'), microseconds],
    [number('pool_run', 'pool computes', 'µs'), (layer) => sumPools(layer, ({ runUs }) => runUs)],
    [
      number('pool_wait', 'pool waits and hands out', 'µs'),
      (layer) => sumPools(layer, ({ waitUs, distributionUs }) => waitUs + distributionUs),
    ],
    ...WORK,
    ...INTENSITY,
    [text('kernels'), ({ parts }) => [...new Set(parts.map(({ layer }) => layer.name))].join(', ')],
  ),
  notesOf: () => [...NOTES, 'GPU: a processor has none. pool: no value with one thread.', WORK_NOTE],
  draw: drawRows('Layers and the thread pool', ['layer', 'layer_index'], 'µs', [
    ['duration', 'layer_duration'],
    ['pool computes', 'pool_run'],
  ]),
});

export const layerWork = xspAnalysis({
  name: 'layer-work',
  description: "A12: operations and bytes of each of the author's layers",
  level: 'SYSTEM_LIBRARY_TRACE',
  ...layerRows(...WORK.slice(0, 3)),
  notesOf: () => [...NOTES, WORK_NOTE],
  draw: drawRows('Work along the model', ['layer', 'layer_index'], 'operations', [['operations', 'flops']]),
});

export const layerRoofline = xspAnalysis({
  name: 'layer-roofline',
  description: "A14: intensity and throughput of each of the author's layers below the roofs of the machine",
  level: 'SYSTEM_LIBRARY_TRACE',
  ...rowsOf(
    (trace: Trace) =>
      groupByLayer(trace).flatMap(({ index, name, operator, parts }) => {
        const [first] = parts;
        if (first === undefined) return [];
        const together = { ...first, ...sumWork(parts, trace) };
        return [{ ...together, index, name, operator, roof: computeRoof(together, trace) }];
      }),
    ...LAYER,
    ...INTENSITY,
    ...ROOF,
  ),
  notesOf: () => [...NOTES, WORK_NOTE],
  draw: drawRoofline('Layers and roofs', 'layer_name'),
});

export const models = xspAnalysis({
  name: 'models',
  description: 'A15: one row for each model: time, work, intensity and throughput',
  level: 'SYSTEM_LIBRARY_TRACE',
  ...rowsOf(
    (trace: Trace) => {
      const { kernels, modelMs, tracedMs } = trace;
      const ms = modelMs ?? tracedMs;
      const counted = kernels.filter(({ flops }) => flops !== null);
      return [{ ...trace, ms, uncounted: kernels.length - counted.length, ...sumWork(counted, trace, ms) }];
    },
    [number('batch_size', 'batch'), ({ batch }) => batch],
    [number('model_duration', 'duration', 'µs'), ({ ms }) => (ms === undefined ? null : ms * 1000)],
    [number('model_gpu_duration', 'GPU', 'µs'), () => null],
    [number('model_kernel_duration', 'kernels', 'µs'), ({ kernelsMs }) => kernelsMs * 1000],
    ...WORK,
    ...INTENSITY,
    [number('uncounted', 'kernels without a count'), ({ uncounted }) => uncounted],
    [number('theoretical_gflops', 'peak', 'GFLOP/s'), ({ peaks }) => peaks.get('float32')?.value ?? null],
    [number('memory_bandwidth', 'bandwidth', 'GB/s'), ({ peaks }) => peaks.get('memory')?.value ?? null],
  ),
  notesOf: () => ['Work is without the kernels that have no count. GPU: a processor has none.', WORK_NOTE],
  draw: drawRoofline('Models and roofs', 'model_name'),
});
