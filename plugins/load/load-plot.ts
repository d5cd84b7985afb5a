import { boundOf, linePlot, type Series } from '../../src/plugin-api.js';
import type { LoadResult, LoadRow } from './load-result.js';

interface Figure {
  readonly label: string;
  readonly of: (row: LoadRow) => number | null | undefined;
}

const LATENCIES: readonly Figure[] = [
  { label: 'p50', of: ({ measured }) => measured?.p50_ms },
  { label: 'p99', of: ({ measured }) => measured?.p99_ms },
  { label: 'p50 predicted', of: ({ predicted }) => predicted?.value?.p50_ms },
  { label: 'p99 predicted', of: ({ predicted }) => predicted?.value?.p99_ms },
];

const THROUGHPUTS: readonly Figure[] = [
  { label: 'measured', of: ({ measured }) => measured?.samples_per_second },
  { label: 'predicted', of: ({ predicted }) => predicted?.value?.samples_per_second },
];

const rounded = (value: number): string => String(Number(value.toPrecision(4)));

/** Lines of figures for each model over the values of `at`. */
function seriesOf(rows: readonly LoadRow[], figures: readonly Figure[], at: (row: LoadRow) => number) {
  const values = [...new Set(rows.map(at))].sort((a, b) => a - b);
  const models = [...new Set(rows.map(({ model }) => model))];
  const series = models.flatMap((model) => {
    return figures.map(({ label, of }): Series => {
      const own = rows.filter((row) => row.model === model);
      // Several trials of one rate differ in their seed; the last one is shown.
      const of_ = new Map(own.map((row) => [at(row), of(row) ?? undefined]));
      return {
        label: models.length === 1 ? label : `${model}, ${label}`,
        values: values.map((value) => of_.get(value)),
      };
    });
  });
  return {
    positions: values.map(rounded),
    series: series.filter((one) => one.values.some((value) => value !== undefined)),
  };
}

/** Latency over the rate with the bound, throughput over the batch, or latency by the number of clients. */
export function loadPlot({ rows, settings: { scenario, bound } }: LoadResult): string {
  const reference = bound === null ? undefined : boundOf(bound)?.ms;
  const withBound = reference === undefined ? {} : { reference };
  switch (scenario) {
    case 'server':
    case 'replay': {
      const known = rows.filter((row) => row.offered_per_second !== null);
      const title = bound === null ? 'Latency over the rate' : `Latency over the rate, with the bound ${bound}`;
      const lines = seriesOf(known, LATENCIES, (row) => row.offered_per_second ?? 0);
      return linePlot({ title, xTitle: 'queries per second', yTitle: 'ms', isConnected: true, ...withBound, ...lines });
    }
    case 'batch':
    case 'single': {
      const lines = seriesOf(rows, THROUGHPUTS, ({ samples: [batch = 1] }) => batch);
      return linePlot({
        title: 'Throughput over the batch',
        xTitle: 'batch',
        yTitle: 'samples per second',
        isConnected: true,
        ...lines,
      });
    }
    case 'clients': {
      const lines = seriesOf(rows, THROUGHPUTS, ({ clients }) => clients ?? 0);
      return linePlot({
        title: 'Throughput over the clients',
        xTitle: 'clients',
        yTitle: 'samples per second',
        isConnected: true,
        ...lines,
      });
    }
  }
}
