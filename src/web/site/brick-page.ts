import { counted } from '../../base/counted.js';
import { formatMs, UNKNOWN } from '../../base/format-ms.js';
import { maxOf, minOf } from '../../base/long-lists.js';
import { markup } from '../../base/markup.js';
import { disturbanceText } from '../../measurement/disturbance.js';
import type { Measurement } from '../../measurement/measurement.js';
import { latencyOfOutcome } from '../../measurement/trimmed-mean.js';
import { rangeChart } from '../charts.js';
import { link, columnsMarkup, type MarkupColumn } from '../table.js';
import { systemAddress, systemNames } from './estimate-cells.js';
import { facts, section, type SiteContent, timeText } from './layout.js';

const MAX_DRAWN = 60;

function contextText({ context, occasion }: Measurement): string {
  const memory = context === undefined ? '' : `, in ${Math.round(context.footprintBytes / 2 ** 20)} MiB`;
  return `occasion ${occasion}${memory}`;
}

function listRuns({ outcome }: Measurement): readonly number[] {
  return outcome.kind === 'samples' ? outcome.runMs : [];
}

export function brickPage(signature: string, measurements: readonly Measurement[]): SiteContent {
  const nameOf = systemNames([...new Map(measurements.map(({ system }) => [system.fingerprint, system])).values()]);
  const sorted = measurements.toSorted((a, b) => a.measuredAt.localeCompare(b.measuredAt));
  const extreme = (of: typeof maxOf) => (measurement: Measurement) => {
    const runs = listRuns(measurement);
    return runs.length === 0 ? UNKNOWN : formatMs(of(runs));
  };
  const columns: MarkupColumn<Measurement>[] = [
    { title: 'system', cell: ({ system }) => link(systemAddress(system.fingerprint), nameOf(system.fingerprint)) },
    { title: 'measured', cell: contextText },
    { title: 'mean (ms)', align: 'right', cell: ({ outcome }) => formatMs(latencyOfOutcome(outcome)) },
    { title: 'least (ms)', align: 'right', cell: extreme(minOf) },
    { title: 'most (ms)', align: 'right', cell: extreme(maxOf) },
    { title: 'runs', align: 'right', cell: (one) => String(listRuns(one).length) },
    { title: 'disturbed', align: 'right', cell: disturbanceText },
    { title: 'time', cell: ({ measuredAt }) => timeText(measuredAt) },
    { title: 'failure', cell: ({ outcome }) => (outcome.kind === 'failure' ? outcome.message : '') },
  ];
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'mean', interval: 'least to most of the runs' },
    ranges: sorted.slice(-MAX_DRAWN).map((measurement) => {
      const runs = listRuns(measurement);
      const mean = latencyOfOutcome(measurement.outcome);
      return {
        name: `${contextText(measurement)}, on ${nameOf(measurement.system.fingerprint)}`,
        value: mean,
        low: runs.length === 0 ? null : minOf(runs),
        high: runs.length === 0 ? null : maxOf(runs),
        text: mean === null ? 'failed' : `${formatMs(mean)} ms`,
      };
    }),
  });
  return {
    title: `Brick ${signature.slice(0, 12)}`,
    body: markup`<h1>Brick ${signature.slice(0, 12)}</h1>
${facts([['signature', signature]])}
<p class="verdict">${counted(sorted.length, 'measurement')} in the store.</p>
${section('Measurements', [chart, columnsMarkup('Measurements', columns, sorted)])}`,
  };
}
