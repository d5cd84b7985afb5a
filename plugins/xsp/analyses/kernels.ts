import { groupedBy, sumOf } from '../../../src/plugin-api.js';
import { type Field, number, rowsOf, text, xspAnalysis } from '../analysis.js';
import { drawRoofline, drawRows } from '../draw.js';
import { type Kernel, percentOf, type Trace } from '../traces.js';
import { computeRoof, INTENSITY, ROOF, sumWork, WORK, WORK_NOTE } from '../work.js';

const NAME: readonly Field<[Kernel]>[] = [
  [text('kernel_name', 'kernel'), ({ layer }) => layer.name],
  [text('kernel_type', 'type'), ({ layer }) => layer.operator],
];

const DURATION: Field<[Pick<Kernel, 'ms'>]> = [number('duration', 'duration', 'µs'), ({ ms }) => ms * 1000];

export const kernels = xspAnalysis({
  name: 'kernels',
  description: 'A8: time, operations and bytes of each kernel',
  level: 'SYSTEM_LIBRARY_TRACE',
  ...rowsOf(
    (trace: Trace) => trace.kernels.map((kernel) => ({ ...kernel, ...sumWork([kernel], trace) })),
    ...NAME,
    DURATION,
    ...WORK,
    ...INTENSITY,
  ),
  notesOf: () => [WORK_NOTE],
  draw: drawRows('Time of each kernel', ['kernel', 'kernel_name'], 'µs', [['duration', 'duration']]),
});

export const kernelRoofline = xspAnalysis({
  name: 'kernel-roofline',
  description: 'A9: intensity and throughput of each kernel below the roofs of the machine',
  level: 'SYSTEM_LIBRARY_TRACE',
  ...rowsOf(
    (trace: Trace) => trace.kernels.map((kernel) => ({ ...kernel, roof: computeRoof(kernel, trace) })),
    ...NAME,
    ...INTENSITY,
    ...ROOF,
  ),
  notesOf: () => [WORK_NOTE],
  draw: drawRoofline('Kernels and roofs', 'kernel_name'),
});

export const kernelGroups = xspAnalysis({
  name: 'kernel-groups',
  description: 'A10: kernels of one type and element type together, the slowest first',
  level: 'SYSTEM_LIBRARY_TRACE',
  ...rowsOf(
    (trace: Trace) =>
      [...groupedBy(trace.kernels, ({ layer, elementType }) => `${layer.operator} ${elementType}`.trim())]
        .map(([name, of]) => {
          const ms = sumOf(of.map((one) => one.ms));
          return { name, count: of.length, ms, percent: percentOf(ms, trace.tracedMs), ...sumWork(of, trace) };
        })
        .toSorted((a, b) => b.ms - a.ms),
    [text('kernel_name', 'kernel'), ({ name }) => name],
    [number('kernel_count', 'kernels'), ({ count }) => count],
    DURATION,
    [number('model_duration_percent', 'of the model', '%'), ({ percent }) => percent],
    ...WORK,
    ...INTENSITY,
  ),
  notesOf: () => ['Shares are of the runs with the profile, which timed the kernels.', WORK_NOTE],
  draw: drawRows('Time by kernel', ['kernel', 'kernel_name'], 'µs', [['duration', 'duration']]),
});
