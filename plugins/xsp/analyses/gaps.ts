import { sumOf } from '../../../src/plugin-api.js';
import { number, text, xspAnalysis } from '../analysis.js';
import { drawStacks } from '../draw.js';
import { percentOf, type Trace } from '../traces.js';

/** The parts add up to a traced run. */
export function computeParts({ kernels, kernelsMs, tracedMs }: Pick<Trace, 'kernels' | 'kernelsMs' | 'tracedMs'>) {
  const pooled = kernels.flatMap(({ layer: { pool } }) => pool ?? []);
  const waitMs = sumOf(pooled.map(({ waitUs }) => waitUs)) / 1000;
  const handingMs = sumOf(pooled.map(({ distributionUs }) => distributionUs)) / 1000;
  return [
    { part: 'kernels: computing', ms: kernelsMs - waitMs - handingMs },
    { part: 'kernels: waiting for other threads', ms: waitMs },
    { part: 'kernels: handing work to other threads', ms: handingMs },
    { part: 'between kernels', ms: tracedMs === undefined ? null : tracedMs - kernelsMs },
  ];
}

export const gaps = xspAnalysis({
  name: 'gaps',
  description: 'A13: time in kernels, of waiting in them, and between them',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [text('part'), number('duration', 'duration', 'ms'), number('duration_percent', 'of the model', '%')],
  rowsOf: (trace) =>
    computeParts(trace).map(({ part, ms }) => {
      return { part, duration: ms, duration_percent: percentOf(ms, trace.tracedMs) };
    }),
  notesOf: () => [
    'The published analysis divides the time of each layer between GPU and processor; on a processor, it divides that of the model between kernels, waiting, and what is between them.',
    'Parts are of runs with the profile and add up to their time; the profile itself writes its records between kernels.',
  ],
  draw: drawStacks('Time of each model', 'part', ['ms', 'duration']),
});
