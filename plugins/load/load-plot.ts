import { type Bound, parseBound, linePlot, type Series } from '../../src/plugin-api.js';
import type { LoadResult, LoadRow } from './load-result.js';

interface Figure {
  readonly label: string;
  readonly of: (row: LoadRow) => number | null | undefined;
  /** Of the figure before it. */
  readonly isPredicted?: boolean;
}

const PERCENTILES = { p50: 'p50_ms', p90: 'p90_ms', p95: 'p95_ms', p99: 'p99_ms', 'p99.9': 'p999_ms' } as const;

function latencies(bound: Bound | undefined): readonly Figure[] {
  const asked = `p${Number(((bound?.share ?? 0) * 100).toFixed(3))}`;
  const tail = (['p90', 'p95', 'p99.9'] as const).find((name) => name === asked) ?? 'p99';
  return (['p50', tail] as const).flatMap((name): readonly Figure[] => {
    const key = PERCENTILES[name];
    return [
      { label: name, of: ({ measured }) => measured?.[key] },
      { label: `${name} predicted`, of: ({ predicted }) => predicted?.value?.[key], isPredicted: true },
    ];
  });
}

const THROUGHPUTS: readonly Figure[] = [
  { label: 'measured', of: ({ measured }) => measured?.samples_per_second },
  { label: 'predicted', of: ({ predicted }) => predicted?.value?.samples_per_second, isPredicted: true },
];

function buildSeries(rows: readonly LoadRow[], figures: readonly Figure[], at: (row: LoadRow) => number) {
  const known = rows.filter((row) => figures.some(({ of }) => of(row) != null));
  const positions = [...new Set(known.map(at))].sort((a, b) => a - b);
  const models = [...new Set(known.map(({ model }) => model))];
  const series = models.flatMap((model) => {
    const own = known.filter((row) => row.model === model);
    return figures.flatMap(({ label, of, isPredicted }, index): readonly Series[] => {
      if (own.every((row) => of(row) == null)) return [];
      // Several trials of one rate differ in their seed; the last one is shown.
      const last = new Map(own.map((row) => [at(row), of(row) ?? undefined]));
      const isDashed = isPredicted === true && own.some((row) => figures[index - 1]?.of(row) != null);
      const name = models.length === 1 ? label : `${model}, ${label}`;
      return [{ label: name, values: positions.map((position) => last.get(position)), isDashed }];
    });
  });
  return { positions, series };
}

/** Latency over the rate with the bound, throughput over the batch, or latency by the number of clients. */
export function loadPlot({ rows, rates, settings: { scenario, bound: text } }: LoadResult): string {
  const bound = text === null ? undefined : parseBound(text);
  const samplesPerSecond = 'samples per second';
  // The trials of a search have different seeds.
  const isConnected = rates.length === 0;
  switch (scenario) {
    case 'server':
    case 'replay': {
      const known = rows.filter((row) => row.offered_per_second !== null);
      const title = text === null ? 'Latency over the rate' : `Latency over the rate, with the bound ${text}`;
      const lines = buildSeries(known, latencies(bound), (row) => row.offered_per_second ?? 0);
      const withBound = bound === undefined ? {} : { reference: bound.ms };
      return linePlot({ title, xTitle: 'queries per second', yTitle: 'ms', isConnected, ...withBound, ...lines });
    }
    case 'batch':
    case 'single': {
      const lines = buildSeries(rows, THROUGHPUTS, ({ samples: [batch = 1] }) => batch);
      const title = 'Throughput over the batch';
      return linePlot({ title, xTitle: 'batch', yTitle: samplesPerSecond, isConnected, ...lines });
    }
    case 'clients': {
      const lines = buildSeries(rows, THROUGHPUTS, ({ clients }) => clients ?? 0);
      const title = 'Throughput over the clients';
      return linePlot({ title, xTitle: 'clients', yTitle: samplesPerSecond, isConnected, ...lines });
    }
  }
}
