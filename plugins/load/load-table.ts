import { createColors } from 'picocolors';
import {
  type Column,
  counted,
  drawn,
  fittingTable,
  groupedBy,
  leftOutLines,
  oneLine,
  ownValue,
  type Page,
  type ShownResult,
  type ShowOptions,
  stackText,
  type TableResult,
  textTable,
  UNKNOWN,
  wrap,
  left,
  leastQueries,
  right,
  minOf,
} from '../../src/plugin-api.js';
import { loadPlot } from './load-plot.js';
import { type LoadResult, loadResultSchema, type LoadRow, type MeasuredLoad } from './load-result.js';
import { validationLines } from './validation.js';
import { batchLines, boundLines, failureText, generationLines, rateLines } from './headlines.js';

type LoadColumn = Column<LoadRow>;

/** Left out first on a narrow terminal. */
const DISPENSABLE = [
  'seed',
  'threads',
  'steal',
  'others',
  'little',
  'late p99 (ms)',
  'longest queue',
  'largest (ms)',
  'p99.9 (ms)',
  'p95 (ms)',
  'cv',
  'failed',
  'batch limit',
  'mean batch',
  'utilization',
  'p90 (ms)',
];

function text(value: number | null | undefined, digits = 4): string {
  return value == null ? UNKNOWN : String(Number(value.toPrecision(digits)));
}

function measured(title: string, of: (row: MeasuredLoad) => number | null, digits?: number): LoadColumn {
  return right(title, (row) => (row.measured === null ? UNKNOWN : text(of(row.measured), digits)));
}

function percent(title: string, of: (row: MeasuredLoad) => number | null): LoadColumn {
  return right(title, ({ measured: row }) => {
    const share = row === null ? null : of(row);
    return share === null ? UNKNOWN : `${text(share * 100, 3)} %`;
  });
}

const PREDICTED = ['p50_ms', 'p90_ms', 'p99_ms', 'samples_per_second'] as const;

/** A prediction with its interval, as in 12.3 (11.9 to 12.8). */
function predicted(title: string, of: (typeof PREDICTED)[number]): LoadColumn {
  return right(title, ({ predicted: row }) => {
    if (row?.value == null) return UNKNOWN;
    const { low, value, high } = row;
    if (value[of] === null) return UNKNOWN;
    const ends = low === null || high === null ? [] : [low[of], high[of]].map((one) => text(one, 3));
    return ends.length === 0 ? text(value[of]) : `${text(value[of])} (${ends.join(' to ')})`;
  });
}

export function columnsFor({ rows, settings, system }: LoadResult, { wide }: ShowOptions): readonly LoadColumn[] {
  const has = (of: (row: LoadRow) => unknown): boolean => rows.some((row) => of(row));
  const isMeasured = has((row) => row.measured);
  const isPredicted = has((row) => row.predicted);
  const isOpen = settings.scenario === 'server' || settings.scenario === 'replay';
  const isClients = settings.scenario === 'clients';
  const hasBatches = has((row) => row.batch_limit > 1);
  const hasFailed = has((row) => row.measured?.failed);
  const columns: readonly (readonly [isShown: boolean, column: LoadColumn])[] = [
    [true, left('model', ({ model }) => oneLine(model))],
    [hasBatches, right('samples', ({ samples }) => samples.join(', '))],
    [hasBatches, right('batch limit', (row) => String(row.batch_limit))],
    [isClients, right('clients', ({ clients }) => text(clients))],
    [isOpen, right('offered (/s)', (row) => text(row.offered_per_second))],
    [isMeasured && (isOpen || isClients), measured('achieved (/s)', (row) => row.achieved_per_second)],
    [isMeasured && !isOpen, measured('samples (/s)', (row) => row.samples_per_second)],
    [isMeasured, measured('utilization', (row) => row.utilization, 3)],
    [isMeasured && wide, measured('queries', (row) => row.queries, 9)],
    [isMeasured && (wide || hasFailed), measured('failed', (row) => row.failed)],
    [isMeasured && hasBatches, measured('mean batch', (row) => row.mean_batch, 3)],
    [isMeasured && wide, measured('wait (ms)', (row) => row.wait_mean_ms)],
    [isMeasured, measured('service (ms)', (row) => row.service_mean_ms)],
    [isMeasured && wide, measured('cv', (row) => row.service_variation, 2)],
    [isMeasured, measured('p50 (ms)', (row) => row.p50_ms)],
    [isMeasured, measured('p90 (ms)', (row) => row.p90_ms)],
    [isMeasured && wide, measured('p95 (ms)', (row) => row.p95_ms)],
    [isMeasured, measured('p99 (ms)', (row) => row.p99_ms)],
    [isMeasured && wide, measured('p99.9 (ms)', (row) => row.p999_ms)],
    [isMeasured && wide, measured('largest (ms)', (row) => row.largest_ms)],
    [isMeasured && settings.bound !== null, percent('over', (row) => row.over_share)],
    [isMeasured && wide, measured('longest queue', (row) => row.longest_queue, 9)],
    [isMeasured && wide, measured('late p99 (ms)', (row) => row.lateness_p99_ms, 3)],
    [
      isMeasured && wide && has((row) => row.measured?.clock_drift_ms),
      measured('drift (ms)', (row) => row.clock_drift_ms, 3),
    ],
    [isMeasured && wide, percent('little', (row) => row.little_error)],
    [isMeasured && wide, percent('steal', (row) => row.steal_share)],
    [isMeasured && wide, percent('others', (row) => row.others_share)],
    [isPredicted && !isOpen, predicted('predicted samples (/s)', 'samples_per_second')],
    [isPredicted, predicted('predicted p50 (ms)', 'p50_ms')],
    [isPredicted && wide, predicted('predicted p90 (ms)', 'p90_ms')],
    [isPredicted, predicted('predicted p99 (ms)', 'p99_ms')],
    [isPredicted && isOpen, right('growth', (row) => text(row.predicted?.growth, 2))],
    [wide, right('threads', () => (settings.deployment === null ? String(system.threads) : UNKNOWN))],
    [wide, right('seed', ({ seed }) => String(seed))],
  ];
  return columns.flatMap(([isShown, column]) => (isShown ? [column] : []));
}

/** What happened to a trial, and why; '' where the reason says both. */
function listEvents({ measured: row, predicted: guess }: LoadRow): readonly (readonly [what: string, why: string])[] {
  const failure = row === null || row.ended === 'failed' ? undefined : failureText(row);
  return [
    ...(row?.ended === 'cut' && row.reason !== null ? [['cut off', row.reason] as const] : []),
    ...(failure === undefined ? [] : [['', failure] as const]),
    ...(row !== null && row.invalid !== null ? [['no result', row.invalid] as const] : []),
    ...(guess !== null && guess.reason !== null
      ? [[guess.value === null ? 'no prediction' : 'no predicted percentiles', guess.reason] as const]
      : []),
  ];
}

function trialReasons(row: LoadRow): readonly string[] {
  const { model, offered_per_second: offered } = row;
  const place = offered === null ? model : `${model}, ${text(offered)}/s`;
  return listEvents(row).map(([what, why]) => [place, ...(what === '' ? [] : [what]), why].join(': '));
}

/** Trials of a search are parts of its result, so each kind of event is one line. */
function searchReasons(model: string, rows: readonly LoadRow[]): readonly string[] {
  return [...groupedBy(rows.flatMap(listEvents), ([what]) => what)].map(([what, [[, why], ...others]]) => {
    const first = others.length === 0 ? '' : ', the first';
    return `${model}: ${what || 'failed queries'} in ${1 + others.length} of ${counted(rows.length, 'trial')}${first}: ${why}`;
  });
}

function listReasons({ rows, rates, unusable }: LoadResult): readonly string[] {
  const ofRows = [...groupedBy(rows, ({ model }) => model)].flatMap(([model, all]) => {
    const isSearch = all.length > 1 && rates.some((rate) => rate.model === model);
    return isSearch ? searchReasons(model, all) : all.flatMap(trialReasons);
  });
  return [...new Set([...ofRows, ...unusable.map(({ model, reason }) => `${model}: ${reason}`)])];
}

export function interruptedText({ rows }: LoadResult): string {
  return `interrupted; ${rows.length === 0 ? 'no trial was done' : 'the trials that were done are above'}`;
}

/** Why p99 is neither shown nor predicted, and the remedy. */
function percentileLines({ rows, settings: { scenario } }: LoadResult): readonly string[] {
  const few = rows.flatMap(({ measured: row }) => {
    const isWhole = row?.ended === 'complete' && row.invalid === null && row.failed === 0;
    return isWhole && row.p99_ms === null ? row.queries : [];
  });
  const isPredicted = rows.some(({ measured: row, predicted: guess }) => {
    return row === null && guess?.reason === null && guess.value?.p99_ms === null;
  });
  if ((few.length === 0 && !isPredicted) || scenario === 'batch') return [];
  const least = leastQueries(0.99, 0);
  const remedy =
    scenario === 'replay' ? 'name a file with more' : `--queries ${least} (queries in manifests) asks for them`;
  const taken = few.length === 0 ? '' : `, and there are ${minOf(few)}`;
  return [`p99 needs ${counted(least, 'query', 'queries')}${taken}; ${remedy}`];
}

function overheadLines({ overheads }: LoadResult): readonly string[] {
  return overheads.map(
    ({ model, weight_bytes: bytes, run_ms: ms, handover_ms: handover, between_ms: between, pauses }) => {
      const runs = pauses.map(({ pause_ms: pause, slowdown, variation }) => {
        const percents = [slowdown - 1, variation].map((share) => `${text(share * 100, 2)} %`);
        return `${pause === 0 ? 'without a pause' : `after ${pause} ms`} ${percents[0]} (deviation ${percents[1]})`;
      });
      const costs = `${text(handover, 3)} ms until a run begins and ${text(between, 3)} ms between runs`;
      const standIn = `a stand-in of ${text(bytes / 1e6, 3)} MB and ${text(ms, 3)} ms`;
      return `${model}: predictions add ${costs}, and what ${standIn} takes longer here: ${runs.join(', ')}`;
    },
  );
}

/** Why predictions have no interval, and the remedy. */
function intervalLines({ rows }: LoadResult): readonly string[] {
  const without = rows.flatMap(({ model, predicted: guess }) =>
    guess?.reason === null && guess.value && !guess.low ? model : [],
  );
  if (without.length === 0) return [];
  const names = [...new Set(without)].join(', ');
  return [
    `${names}: predictions have no interval, because the stored estimate has none; 'dlbricks run' repeats its bricks`,
  ];
}

/** Where the model runs: a server of others says nothing of itself. */
function placeText({ system, settings: { deployment } }: LoadResult): string {
  return deployment ?? stackText(system);
}

function deploymentLines({ rows, system, settings: { deployment } }: LoadResult): readonly string[] {
  if (deployment === null || !rows.some(({ predicted: guess }) => guess?.value != null)) return [];
  const contents = `the runs of the model on this system (${stackText(system)}), and the queue in front of them`;
  const left = 'calls of the server, its own batches, and other work there';
  return [`measured at ${deployment}; predictions contain ${contents}, and nothing of ${left}`];
}

export function listNotes(result: LoadResult): readonly string[] {
  const { agents, settings, warnings } = result;
  const machines = agents === 1 ? '' : `; ${counted(agents, 'agent')}, queries by ${settings.dispatch}`;
  return [
    ...boundLines(result),
    ...rateLines(result),
    ...batchLines(result),
    ...generationLines(result),
    ...validationLines(result),
    ...listReasons(result),
    ...percentileLines(result),
    ...intervalLines(result),
    ...overheadLines(result),
    ...deploymentLines(result),
    `${placeText(result)}${machines}; seed ${settings.seed}`,
    ...warnings.map((warning) => `warning: ${warning}`),
  ].map(oneLine);
}

/** What {@link listRecords} says of T(B) = a + b B in each row of its model. */
function lineRecords({ batches }: LoadResult, model: string): Record<string, number | null> {
  const { measured: ofRuns, predicted: ofEstimates } = batches.find((one) => one.model === model) ?? {};
  const entries = [ofRuns, ofEstimates].flatMap((curve, index) => {
    const ends = Object.entries(curve ?? {}).filter(([key]) => /^[ab]_/.test(key));
    return ends.map(([key, value]) => [index === 0 ? key : `predicted_${key}`, value] as const);
  });
  return Object.fromEntries(entries);
}

/** Each figure with the ends of its interval, as in predicted_p50_ms, predicted_p50_low_ms and predicted_p50_high_ms. */
function predictedRecords(guess: LoadRow['predicted']): Record<string, number | null> {
  const figures = PREDICTED.flatMap((key) => [
    [`predicted_${key}`, guess?.value?.[key] ?? null] as const,
    ...(['low', 'high'] as const).map((end) => {
      return [`predicted_${key.replace('_', `_${end}_`)}`, guess?.[end]?.[key] ?? null] as const;
    }),
  ]);
  return {
    ...Object.fromEntries(figures),
    predicted_utilization: guess?.utilization ?? null,
    growth: guess?.growth ?? null,
  };
}

function listRecords(result: LoadResult): TableResult['records'] {
  const flat = result.rows.map(({ measured: row, predicted: guess, ...of }) => ({
    ...of,
    threads: result.settings.deployment === null ? result.system.threads : null,
    samples: of.samples.join(' '),
    ...row,
    holds: row?.holds == null ? null : String(row.holds),
    ...predictedRecords(guess),
    no_prediction: guess?.reason ?? null,
    ...lineRecords(result, of.model),
  }));
  const keys = [...new Set(flat.flatMap((row) => Object.keys(row)))];
  return {
    keys,
    rows: flat.map((row) => keys.map((key) => ownValue(row as Record<string, string | number | null>, key))),
  };
}

function buildPage(result: LoadResult): Page {
  const { rows, settings } = result;
  const names = [...new Set(rows.map(({ model }) => model))].join(', ');
  const headline = [...boundLines(result), ...rateLines(result), ...batchLines(result), ...validationLines(result)];
  const lead = 'Latency counts from the scheduled time of a query.';
  const table = textTable(columnsFor(result, { wide: true }), rows);
  return {
    title: `${names} under load (${settings.scenario}) on ${placeText(result)}`,
    verdict: headline.length === 0 ? undefined : `${headline.join('. ')}.`,
    sections: [{ title: 'Trials', lead, chart: rows.length === 0 ? undefined : drawn(loadPlot(result)), table }],
  };
}

export function shownLoad(result: LoadResult, options: ShowOptions): ShownResult {
  return {
    result: () => ({
      document: result,
      records: listRecords(result),
      table: textTable(columnsFor(result, { wide: true }), result.rows),
      notes: listNotes(result),
    }),
    page: () => buildPage(result),
    text: ({ color, width = Infinity }) => {
      const { bold } = createColors(color);
      const table = fittingTable(columnsFor(result, options), result.rows, { width, dispensable: DISPENSABLE, bold });
      const notes = listNotes(result).map((line) => wrap(line, width, '  '));
      const shown = result.rows.length === 0 ? [] : [table.text, ...leftOutLines(table, width)];
      return [...shown, ...notes, ''].join('\n');
    },
  };
}

export function showLoad(document: unknown, options: ShowOptions): ShownResult | undefined {
  const { data } = loadResultSchema.safeParse(document);
  return data && shownLoad(data, options);
}
