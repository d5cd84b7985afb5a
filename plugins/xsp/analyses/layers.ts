import { type Field, number, rowsOf, text, xspAnalysis } from '../analysis.js';
import { drawBoxes, drawRows } from '../draw.js';
import type { Kernel, Trace } from '../traces.js';

type KernelField = Field<[kernel: Kernel, index: number]>;

const IDENTITY: readonly KernelField[] = [
  [number('layer_index', 'index'), (_, index) => index],
  [text('layer_name', 'name'), ({ layer }) => layer.name],
  [text('layer_type', 'type'), ({ layer }) => layer.operator],
  [text('layer_shape', 'shape'), ({ shape }) => shape],
];

function kernelRows(...own: readonly KernelField[]) {
  return rowsOf(({ kernels }: Trace) => kernels, ...IDENTITY, ...own);
}

/** null where the profile does not say it */
export function allocatedBytes({ layer: { memory } }: Kernel): number | null {
  return memory?.allocatedBytes === undefined ? null : Math.max(0, memory.allocatedBytes);
}

export const layers = xspAnalysis({
  name: 'layers',
  description: 'A2: duration and memory of each layer that the runtime executes',
  level: 'FRAMEWORK_TRACE',
  ...kernelRows(
    [number('layer_duration', 'duration', 'µs'), ({ ms }) => ms * 1000],
    [number('allocated_bytes', 'allocated', 'bytes'), allocatedBytes],
    [number('peak_allocated_bytes', 'peak', 'bytes'), ({ layer }) => layer.memory?.peakBytes ?? null],
    [number('allocator_bytes_in_use', 'in use', 'bytes'), ({ layer }) => layer.memory?.inUseBytes ?? null],
    [text('allocator_name', 'allocator'), ({ layer }) => (layer.memory === undefined ? null : 'arena')],
    [number('host_temp_bytes', 'host temporary', 'bytes'), () => null],
    [number('device_temp_bytes', 'device temporary', 'bytes'), () => null],
    [number('host_persistent_bytes', 'host persistent', 'bytes'), () => null],
    [number('device_persistent_bytes', 'device persistent', 'bytes'), () => null],
  ),
  notesOf: () => ['Memory is that of the first run of a session; later runs take one piece for all values.'],
  draw: drawRows('Latency along the model', ['layer', 'layer_index'], 'µs', [['duration', 'layer_duration']]),
});

/** Of the times of a kernel's runs, in microseconds. */
function quantileUs({ layer: { samplesMs } }: Kernel, share: number): number | null {
  if (samplesMs.length === 0) return null;
  const sorted = samplesMs.map((ms) => ms * 1000).toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? 0;
  return low + (high - low) * (at - Math.floor(at));
}

export const layerLatency = xspAnalysis({
  name: 'layer-latency',
  description: 'A3: how the duration of each layer varies between runs',
  level: 'FRAMEWORK_TRACE',
  ...kernelRows(
    [number('runs', 'runs'), ({ layer }) => layer.runs],
    [number('min_us', 'least', 'µs'), (kernel) => quantileUs(kernel, 0)],
    [number('q1_us', 'first quartile', 'µs'), (kernel) => quantileUs(kernel, 0.25)],
    [number('median_us', 'median', 'µs'), (kernel) => quantileUs(kernel, 0.5)],
    [number('q3_us', 'third quartile', 'µs'), (kernel) => quantileUs(kernel, 0.75)],
    [number('max_us', 'most', 'µs'), (kernel) => quantileUs(kernel, 1)],
  ),
  draw: drawBoxes('Latency along the model', ['layer', 'layer_index'], 'µs'),
});

function toMebibytes(bytes: number | null): number | null {
  return bytes === null ? null : bytes / 2 ** 20;
}

export const layerMemory = xspAnalysis({
  name: 'layer-memory',
  description: 'A4: memory that each layer asks for, and what is in use after it',
  level: 'FRAMEWORK_TRACE',
  ...kernelRows(
    [number('allocated_mb', 'allocated', 'MiB'), (kernel) => toMebibytes(allocatedBytes(kernel))],
    [
      number('requested_bytes_in_use', 'in use as asked for', 'bytes'),
      ({ layer }) => layer.memory?.requestedBytes ?? null,
    ],
    [number('output_mb', 'outputs', 'MiB'), ({ writeBytes }) => toMebibytes(writeBytes)],
  ),
  draw: drawRows('Memory along the model', ['layer', 'layer_index'], 'MiB', [
    ['allocated', 'allocated_mb'],
    ['outputs', 'output_mb'],
  ]),
});
