import { number, type Row, text, xspAnalysis } from '../analysis.js';
import { drawBoxes, drawRows } from '../draw.js';
import type { Kernel } from '../traces.js';

const IDENTITY = [
  number('layer_index', 'index'),
  text('layer_name', 'name'),
  text('layer_type', 'type'),
  text('layer_shape', 'shape'),
];

function identity({ layer, shape }: Kernel, index: number): Row {
  return { layer_index: index, layer_name: layer.name, layer_type: layer.operator, layer_shape: shape };
}

const MB = 2 ** 20;

/** null where the profile does not say it */
export function allocatedBytes({ layer: { memory } }: Kernel): number | null {
  return memory?.allocatedBytes === undefined ? null : Math.max(0, memory.allocatedBytes);
}

export const layers = xspAnalysis({
  name: 'layers',
  description: 'A2: duration and memory of each layer that the runtime executes',
  level: 'FRAMEWORK_TRACE',
  columns: [
    ...IDENTITY,
    number('layer_duration', 'duration', 'µs'),
    number('allocated_bytes', 'allocated', 'bytes'),
    number('peak_allocated_bytes', 'peak', 'bytes'),
    number('allocator_bytes_in_use', 'in use', 'bytes'),
    text('allocator_name', 'allocator'),
    number('host_temp_bytes', 'host temporary', 'bytes'),
    number('device_temp_bytes', 'device temporary', 'bytes'),
    number('host_persistent_bytes', 'host persistent', 'bytes'),
    number('device_persistent_bytes', 'device persistent', 'bytes'),
  ],
  rowsOf: ({ kernels }) =>
    kernels.map((kernel, index) => ({
      ...identity(kernel, index),
      layer_duration: kernel.ms * 1000,
      allocated_bytes: allocatedBytes(kernel),
      peak_allocated_bytes: kernel.layer.memory?.peakBytes ?? null,
      allocator_bytes_in_use: kernel.layer.memory?.inUseBytes ?? null,
      allocator_name: kernel.layer.memory === undefined ? null : 'arena',
      host_temp_bytes: null,
      device_temp_bytes: null,
      host_persistent_bytes: null,
      device_persistent_bytes: null,
    })),
  notesOf: () => ['Memory is that of the first run of a session; later runs take one piece for all values.'],
  draw: drawRows('Latency along the model', ['layer', 'layer_index'], 'µs', [['duration', 'layer_duration']]),
});

function quantile(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  const at = (sorted.length - 1) * share;
  const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

export const layerLatency = xspAnalysis({
  name: 'layer-latency',
  description: 'A3: how the duration of each layer varies between runs',
  level: 'FRAMEWORK_TRACE',
  columns: [
    ...IDENTITY,
    number('runs', 'runs'),
    number('min_us', 'least', 'µs'),
    number('q1_us', 'first quartile', 'µs'),
    number('median_us', 'median', 'µs'),
    number('q3_us', 'third quartile', 'µs'),
    number('max_us', 'most', 'µs'),
  ],
  rowsOf: ({ kernels }) =>
    kernels.map((kernel, index) => {
      const sorted = kernel.layer.samplesMs.map((ms) => ms * 1000).toSorted((a, b) => a - b);
      return {
        ...identity(kernel, index),
        runs: kernel.layer.runs,
        min_us: quantile(sorted, 0),
        q1_us: quantile(sorted, 0.25),
        median_us: quantile(sorted, 0.5),
        q3_us: quantile(sorted, 0.75),
        max_us: quantile(sorted, 1),
      };
    }),
  draw: drawBoxes('Latency along the model', ['layer', 'layer_index'], 'µs'),
});

export const layerMemory = xspAnalysis({
  name: 'layer-memory',
  description: 'A4: memory that each layer asks for, and what is in use after it',
  level: 'FRAMEWORK_TRACE',
  columns: [
    ...IDENTITY,
    number('allocated_mb', 'allocated', 'MiB'),
    number('requested_bytes_in_use', 'in use as asked for', 'bytes'),
    number('output_mb', 'outputs', 'MiB'),
  ],
  rowsOf: ({ kernels }) =>
    kernels.map((kernel, index) => {
      const allocated = allocatedBytes(kernel);
      const written = kernel.writeBytes;
      return {
        ...identity(kernel, index),
        allocated_mb: allocated === null ? null : allocated / MB,
        requested_bytes_in_use: kernel.layer.memory?.requestedBytes ?? null,
        output_mb: written === null ? null : written / MB,
      };
    }),
  draw: drawRows('Memory along the model', ['layer', 'layer_index'], 'MiB', [
    ['allocated', 'allocated_mb'],
    ['outputs', 'output_mb'],
  ]),
});
