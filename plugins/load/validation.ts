import { counted, mean, maxOf } from '../../src/plugin-api.js';
import type { LoadResult, LoadRow } from './load-result.js';

interface Compared {
  readonly measured: number;
  readonly low: number | null;
  readonly value: number;
  readonly high: number | null;
}

type Figure = 'p50_ms' | 'p99_ms' | 'samples_per_second';

function compared(rows: readonly LoadRow[], figure: Figure): readonly Compared[] {
  return rows.flatMap(({ measured, predicted }) => {
    const is = measured?.[figure];
    const value = predicted?.value?.[figure];
    if (is == null || value == null || measured?.ended !== 'complete') return [];
    return [{ measured: is, value, low: predicted?.low?.[figure] ?? null, high: predicted?.high?.[figure] ?? null }];
  });
}

function formatLine(name: string, all: readonly Compared[]): readonly string[] {
  if (all.length === 0) return [];
  const errors = all.map(({ measured, value }) => Math.abs(value / measured - 1) * 100);
  const withInterval = all.filter(({ low, high }) => low !== null && high !== null);
  const inside = withInterval.filter(({ measured, low, high }) => measured >= (low ?? 0) && measured <= (high ?? 0));
  const [average, worst] = [mean(errors), maxOf(errors)].map((error) => `${error.toFixed(1)} %`);
  const error = all.length === 1 ? `off by ${worst}` : `off by ${average} on average and ${worst} at most`;
  return [
    `predicted ${name}: ${error}; ${inside.length} of ${counted(withInterval.length, 'measured value')} in the interval`,
  ];
}

export function validationLines({ rows, rates, settings: { scenario } }: LoadResult): readonly string[] {
  const isOpen = scenario === 'server' || scenario === 'replay';
  // The trials of a search end near the bound, or are cut off; their rate is what counts.
  const shown = rates.length > 0 ? [] : rows;
  const ofRates = rates.flatMap(({ measured, predicted }): readonly Compared[] => {
    const value = predicted?.value_per_second ?? null;
    if (value === null) return [];
    return measured.flatMap(({ passed_per_second: passed }) => {
      const { low_per_second: low = null, high_per_second: high = null } = predicted ?? {};
      return passed === null ? [] : [{ measured: passed, value, low, high }];
    });
  });
  return [
    ...(isOpen ? [] : formatLine('throughput', compared(shown, 'samples_per_second'))),
    ...formatLine('p50', compared(shown, 'p50_ms')),
    ...formatLine('p99', compared(shown, 'p99_ms')),
    ...formatLine('largest rate', ofRates),
  ];
}
