import { groupedBy, sumOf } from '../../../src/plugin-api.js';
import { number, rowsOf, text, xspAnalysis } from '../analysis.js';
import { drawRows } from '../draw.js';
import { type Kernel, percentOf, sumOrNull, type Trace } from '../traces.js';
import { allocatedBytes } from './layers.js';

/** Columns of an amount and its share, and a row for each type, the largest first. */
function byType(
  key: string,
  title: string,
  unit: string | undefined,
  amountOf: (kernels: readonly Kernel[]) => number | null,
) {
  return rowsOf(
    ({ kernels }: Trace) => {
      const groups = [...groupedBy(kernels, ({ layer }) => layer.operator)];
      const rows = groups.map(([type, of]) => ({ type, amount: amountOf(of) }));
      const total = sumOrNull(rows.map(({ amount }) => amount));
      return rows.toSorted((a, b) => (b.amount ?? 0) - (a.amount ?? 0)).map((row) => ({ ...row, total }));
    },
    [text('layer_type', 'type'), ({ type }) => type],
    [number(key, title, unit), ({ amount }) => amount],
    [number(`${key}_percent`, title, '%'), ({ amount, total }) => percentOf(amount, total)],
  );
}

export const types = xspAnalysis({
  name: 'types',
  description: 'A5: how often each type of layer occurs',
  level: 'FRAMEWORK_TRACE',
  ...byType('occurrences', 'occurrences', undefined, ({ length }) => length),
  draw: drawRows('Layers by type', ['type', 'layer_type'], 'layers', [['occurrences', 'occurrences']]),
});

export const typeLatency = xspAnalysis({
  name: 'type-latency',
  description: 'A6: time of each type of layer',
  level: 'FRAMEWORK_TRACE',
  ...byType('duration', 'duration', 'µs', (of) => 1000 * sumOf(of.map(({ ms }) => ms))),
  draw: drawRows('Time by type', ['type', 'layer_type'], 'µs', [['duration', 'duration']]),
});

export const typeMemory = xspAnalysis({
  name: 'type-memory',
  description: 'A7: memory that each type of layer asks for',
  level: 'FRAMEWORK_TRACE',
  ...byType('allocated_bytes', 'allocated', 'bytes', (of) => sumOrNull(of.map(allocatedBytes))),
  draw: drawRows('Memory by type', ['type', 'layer_type'], 'bytes', [['allocated', 'allocated_bytes']]),
});
