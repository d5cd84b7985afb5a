import { sumOf } from '../../../src/plugin-api.js';
import { number, type Row, text, xspAnalysis } from '../analysis.js';
import { drawRoofline, drawRows } from '../draw.js';
import { type Kernel, sumOrNull, type Trace } from '../traces.js';
import { INTENSITY, selectIntensity, ROOF, computeRoof, sumWork, WORK, WORK_NOTE, computeWork } from '../work.js';

const LAYER = [number('layer_index', 'index'), text('layer_name', 'name'), text('layer_type', 'type')];

/** A layer of the author with its parts of kernels; of a trace that does not tell them, a kernel. */
interface Layer {
  readonly identity: Row;
  readonly parts: readonly Kernel[];
}

function partOf(kernel: Kernel, share: number): Kernel {
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

function identityOf(
  index: number | null,
  { name, operator }: { readonly name: string; readonly operator: string },
): Row {
  return { layer_index: index, layer_name: name, layer_type: operator };
}

/** In the author's order; kernels that compute none of these come last, without an index. */
function groupByLayer({ kernels }: Trace): readonly Layer[] {
  if (kernels.every(({ layer }) => layer.sources === undefined)) {
    return kernels.map((kernel, index) => ({ identity: identityOf(index, kernel.layer), parts: [kernel] }));
  }
  const layers = new Map<number, { readonly identity: Row; readonly parts: Kernel[] }>();
  const others: Layer[] = [];
  for (const kernel of kernels) {
    const { sources = [] } = kernel.layer;
    if (sources.length === 0) others.push({ identity: identityOf(null, kernel.layer), parts: [kernel] });
    for (const source of sources) {
      const layer = layers.get(source.index) ?? { identity: identityOf(source.index, source), parts: [] };
      layers.set(source.index, layer);
      layer.parts.push(partOf(kernel, source.share));
    }
  }
  return [...[...layers].sort(([a], [b]) => a - b).map(([, layer]) => layer), ...others];
}

const NOTES = [
  "Layers of a stored trace are those of the author, in the author's order. Layers that one kernel computes share its time and work by their operations. Kernels without an index compute no layer of the author, such as changes of layout.",
  "Work is that of kernels as the runtime executes them: without fused activations, and with what fills blocked layouts. 'mlmodelscope dlbricks layers' counts the work of the author's graph.",
  'Layers of an imported trace are what the runtime executed: one kernel each.',
];

function times(parts: readonly Kernel[]): Row {
  const us = 1000 * sumOf(parts.map(({ ms }) => ms));
  const pools = parts.map(({ layer }) => layer.pool);
  return {
    layer_duration: us,
    layer_gpu_duration: null,
    layer_cpu_duration: us,
    pool_run: sumOrNull(pools.map((pool) => pool?.runUs ?? null)),
    pool_wait: sumOrNull(pools.map((pool) => (pool === undefined ? null : pool.waitUs + pool.distributionUs))),
    kernels: [...new Set(parts.map(({ layer }) => layer.name))].join(', '),
  };
}

export const layerKernels = xspAnalysis({
  name: 'layer-kernels',
  description: "A11: time of each of the author's layers, what its kernels do with it, and their work",
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [
    ...LAYER,
    number('layer_duration', 'duration', 'µs'),
    number('layer_gpu_duration', 'GPU', 'µs'),
    number('layer_cpu_duration', 'processor', 'µs'),
    number('pool_run', 'pool computes', 'µs'),
    number('pool_wait', 'pool waits and hands out', 'µs'),
    ...WORK,
    ...INTENSITY,
    text('kernels'),
  ],
  rowsOf: (trace) =>
    groupByLayer(trace).map(({ identity, parts }) => ({ ...identity, ...times(parts), ...computeWork(parts, trace) })),
  notesOf: () => [...NOTES, 'GPU: null, a processor has none. pool: null with one thread.', WORK_NOTE],
  draw: drawRows('Layers and the thread pool', ['layer', 'layer_index'], 'µs', [
    ['duration', 'layer_duration'],
    ['pool computes', 'pool_run'],
  ]),
});

export const layerWork = xspAnalysis({
  name: 'layer-work',
  description: "A12: operations and bytes of each of the author's layers",
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...LAYER, ...WORK.slice(0, 3)],
  rowsOf: (trace) =>
    groupByLayer(trace).map(({ identity, parts }) => {
      const { flops, readBytes, writeBytes } = sumWork(parts, trace);
      return { ...identity, flops, dram_read_bytes: readBytes, dram_write_bytes: writeBytes };
    }),
  notesOf: () => [...NOTES, WORK_NOTE],
  draw: drawRows('Work along the model', ['layer', 'layer_index'], 'operations', [['operations', 'flops']]),
});

export const layerRoofline = xspAnalysis({
  name: 'layer-roofline',
  description: "A14: intensity and throughput of each of the author's layers below the roofs of the machine",
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...LAYER, ...INTENSITY, ...ROOF],
  rowsOf: (trace) =>
    groupByLayer(trace).flatMap(({ identity, parts }) => {
      const [first] = parts;
      if (first === undefined) return [];
      const together = { ...first, ...sumWork(parts, trace) };
      return [{ ...identity, ...selectIntensity(together), ...computeRoof(together, trace) }];
    }),
  notesOf: () => [...NOTES, WORK_NOTE],
  draw: drawRoofline('Layers and roofs', 'layer_name'),
});

function modelRow(trace: Trace): Row {
  const { kernels, modelMs, tracedMs, kernelsMs, peaks } = trace;
  const ms = modelMs ?? tracedMs;
  const countedKernels = kernels.filter(({ flops }) => flops !== null);
  return {
    batch_size: trace.batch,
    model_duration: ms === undefined ? null : ms * 1000,
    model_gpu_duration: null,
    model_kernel_duration: kernelsMs * 1000,
    ...computeWork(countedKernels, trace, ms),
    uncounted: kernels.length - countedKernels.length,
    theoretical_gflops: peaks.get('float32')?.value ?? null,
    memory_bandwidth: peaks.get('memory')?.value ?? null,
  };
}

export const models = xspAnalysis({
  name: 'models',
  description: 'A15: one row for each model: time, work, intensity and throughput',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [
    number('batch_size', 'batch'),
    number('model_duration', 'duration', 'µs'),
    number('model_gpu_duration', 'GPU', 'µs'),
    number('model_kernel_duration', 'kernels', 'µs'),
    ...WORK,
    ...INTENSITY,
    number('uncounted', 'kernels without a count'),
    number('theoretical_gflops', 'peak', 'GFLOP/s'),
    number('memory_bandwidth', 'bandwidth', 'GB/s'),
  ],
  rowsOf: (trace) => [modelRow(trace)],
  notesOf: () => ['Work is without the kernels that have no count. GPU: null, a processor has none.', WORK_NOTE],
  draw: drawRoofline('Models and roofs', 'model_name'),
});
