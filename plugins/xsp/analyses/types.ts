import { groupedBy, sumOf } from '../../../src/plugin-api.js';
import { number, type Row, text, xspAnalysis } from '../analysis.js';
import { drawRows } from '../draw.js';
import { type Kernel, percentOf, sumOrNull, type Trace } from '../traces.js';
import { allocatedBytes } from './layers.js';

/** The largest first. */
function byType(
  { kernels }: Trace,
  amountOf: (kernels: readonly Kernel[]) => number | null,
  key: string,
): readonly Row[] {
  const groups = [...groupedBy(kernels, ({ layer }) => layer.operator)];
  const rows = groups.map(([type, of]) => ({ type, amount: amountOf(of) }));
  const total = sumOrNull(rows.map(({ amount }) => amount));
  return rows
    .toSorted((a, b) => (b.amount ?? 0) - (a.amount ?? 0))
    .map(({ type, amount }) => ({
      layer_type: type,
      [key]: amount,
      [`${key}_percent`]: percentOf(amount, total),
    }));
}

export const types = xspAnalysis({
  name: 'types',
  description: 'A5: how often each type of layer occurs',
  level: 'FRAMEWORK_TRACE',
  columns: [
    text('layer_type', 'type'),
    number('occurrences', 'occurrences'),
    number('occurrences_percent', 'occurrences', '%'),
  ],
  rowsOf: (trace) => byType(trace, ({ length }) => length, 'occurrences'),
  draw: drawRows('Layers by type', ['type', 'layer_type'], 'layers', [['occurrences', 'occurrences']]),
});

export const typeLatency = xspAnalysis({
  name: 'type-latency',
  description: 'A6: time of each type of layer',
  level: 'FRAMEWORK_TRACE',
  columns: [
    text('layer_type', 'type'),
    number('duration', 'duration', 'µs'),
    number('duration_percent', 'duration', '%'),
  ],
  rowsOf: (trace) => byType(trace, (of) => 1000 * sumOf(of.map(({ ms }) => ms)), 'duration'),
  draw: drawRows('Time by type', ['type', 'layer_type'], 'µs', [['duration', 'duration']]),
});

export const typeMemory = xspAnalysis({
  name: 'type-memory',
  description: 'A7: memory that each type of layer asks for',
  level: 'FRAMEWORK_TRACE',
  columns: [
    text('layer_type', 'type'),
    number('allocated_bytes', 'allocated', 'bytes'),
    number('allocated_bytes_percent', 'allocated', '%'),
  ],
  rowsOf: (trace) => byType(trace, (of) => sumOrNull(of.map(allocatedBytes)), 'allocated_bytes'),
  draw: drawRows('Memory by type', ['type', 'layer_type'], 'bytes', [['allocated', 'allocated_bytes']]),
});
