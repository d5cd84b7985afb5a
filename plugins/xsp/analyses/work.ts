import { number, type Row, text, xspAnalysis } from '../analysis.js';
import { drawRoofline, drawRows } from '../draw.js';
import type { Kernel, Trace } from '../traces.js';
import { INTENSITY, intensityOf, ROOF, roofOf, WORK, WORK_NOTE, workOf } from '../work.js';

const LAYER = [number('layer_index', 'index'), text('layer_name', 'name'), text('layer_type', 'type')];

function layerOf({ layer }: Kernel, index: number): Row {
  return { layer_index: index, layer_name: layer.name, layer_type: layer.operator };
}

const ONE_KERNEL =
  "A layer is what the runtime executes after fusion: one kernel. 'trace model --annotate FILE' gives times to the layers of the author.";

function times({ ms, layer: { pool } }: Kernel): Row {
  const busyUs = pool === undefined ? null : pool.runUs;
  return {
    layer_duration: ms * 1000,
    layer_gpu_duration: null,
    layer_cpu_duration: ms * 1000,
    pool_run: busyUs,
    pool_wait: pool === undefined ? null : pool.waitUs + pool.distributionUs,
  };
}

export const layerKernels = xspAnalysis({
  name: 'layer-kernels',
  description: 'A11: time of each layer, what its kernel does with it, and its work',
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
  ],
  rowsOf: (trace) =>
    trace.kernels.map((kernel, index) => ({ ...layerOf(kernel, index), ...times(kernel), ...workOf([kernel], trace) })),
  notesOf: () => [ONE_KERNEL, 'GPU: null, a processor has none. pool: null with one thread.', WORK_NOTE],
  draw: drawRows('Layers and the thread pool', ['layer', 'layer_index'], 'µs', [
    ['duration', 'layer_duration'],
    ['pool computes', 'pool_run'],
  ]),
});

export const layerWork = xspAnalysis({
  name: 'layer-work',
  description: 'A12: operations and bytes of each layer',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...LAYER, ...WORK.slice(0, 3)],
  rowsOf: (trace) =>
    trace.kernels.map((kernel, index) => ({
      ...layerOf(kernel, index),
      flops: kernel.flops,
      dram_read_bytes: kernel.readBytes,
      dram_write_bytes: kernel.writeBytes,
    })),
  notesOf: () => [ONE_KERNEL, WORK_NOTE],
  draw: drawRows('Work along the model', ['layer', 'layer_index'], 'operations', [['operations', 'flops']]),
});

export const layerRoofline = xspAnalysis({
  name: 'layer-roofline',
  description: 'A14: intensity and throughput of each layer below the roofs of the machine',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...LAYER, ...INTENSITY, ...ROOF],
  rowsOf: (trace) =>
    trace.kernels.map((kernel, index) => {
      return { ...layerOf(kernel, index), ...intensityOf(kernel), ...roofOf(kernel, trace) };
    }),
  notesOf: () => [ONE_KERNEL, WORK_NOTE],
  draw: drawRoofline('Layers and roofs', 'layer_name'),
});

function modelRow(trace: Trace): Row {
  const { kernels, modelMs, tracedMs, kernelsMs, peaks } = trace;
  const ms = modelMs ?? tracedMs;
  return {
    batch_size: trace.batch,
    model_duration: ms === undefined ? null : ms * 1000,
    model_gpu_duration: null,
    model_kernel_duration: kernelsMs * 1000,
    ...workOf(
      kernels.filter(({ flops }) => flops !== null),
      trace,
      ms,
    ),
    uncounted: kernels.filter(({ flops }) => flops === null).length,
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
