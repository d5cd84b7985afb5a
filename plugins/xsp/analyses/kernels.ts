import { groupedBy, sumOf } from '../../../src/plugin-api.js';
import { number, text, xspAnalysis } from '../analysis.js';
import { drawRoofline, drawRows } from '../draw.js';
import { type Kernel, percentOf } from '../traces.js';
import { INTENSITY, selectIntensity, ROOF, computeRoof, WORK, WORK_NOTE, computeWork } from '../work.js';

const NAME = [text('kernel_name', 'kernel'), text('kernel_type', 'type')];

function nameOf({ layer }: Kernel): { readonly kernel_name: string; readonly kernel_type: string } {
  return { kernel_name: layer.name, kernel_type: layer.operator };
}

export const kernels = xspAnalysis({
  name: 'kernels',
  description: 'A8: time, operations and bytes of each kernel',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...NAME, number('duration', 'duration', 'µs'), ...WORK, ...INTENSITY],
  rowsOf: (trace) =>
    trace.kernels.map((kernel) => ({ ...nameOf(kernel), duration: kernel.ms * 1000, ...computeWork([kernel], trace) })),
  notesOf: () => [WORK_NOTE],
  draw: drawRows('Time of each kernel', ['kernel', 'kernel_name'], 'µs', [['duration', 'duration']]),
});

export const kernelRoofline = xspAnalysis({
  name: 'kernel-roofline',
  description: 'A9: intensity and throughput of each kernel below the roofs of the machine',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [...NAME, ...INTENSITY, ...ROOF],
  rowsOf: (trace) =>
    trace.kernels.map((kernel) => ({ ...nameOf(kernel), ...selectIntensity(kernel), ...computeRoof(kernel, trace) })),
  notesOf: () => [WORK_NOTE],
  draw: drawRoofline('Kernels and roofs', 'kernel_name'),
});

export const kernelGroups = xspAnalysis({
  name: 'kernel-groups',
  description: 'A10: kernels of one type and element type together, the slowest first',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [
    text('kernel_name', 'kernel'),
    number('kernel_count', 'kernels'),
    number('duration', 'duration', 'µs'),
    number('model_duration_percent', 'of the model', '%'),
    ...WORK,
    ...INTENSITY,
  ],
  rowsOf: (trace) => {
    const groups = groupedBy(trace.kernels, ({ layer, elementType }) => `${layer.operator} ${elementType}`.trim());
    return [...groups]
      .map(([name, of]) => ({ name, of, ms: sumOf(of.map((one) => one.ms)) }))
      .toSorted((a, b) => b.ms - a.ms)
      .map(({ name, of, ms }) => ({
        kernel_name: name,
        kernel_count: of.length,
        duration: ms * 1000,
        model_duration_percent: percentOf(ms, trace.tracedMs),
        ...computeWork(of, trace),
      }));
  },
  notesOf: () => ['Shares are of the runs with the profile, which timed the kernels.', WORK_NOTE],
  draw: drawRows('Time by kernel', ['kernel', 'kernel_name'], 'µs', [['duration', 'duration']]),
});
