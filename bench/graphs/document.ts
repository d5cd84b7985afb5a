import { mean } from '../../plugins/dlbricks/estimate/statistics.js';
import type { ModelReport } from '../../plugins/dlbricks/report/report-schema.js';
import { isWide } from '../../plugins/dlbricks/report/summary-lines.js';
import { percent } from '../../plugins/dlbricks/report/words.js';
import type { Said } from './measure.js';

/** A graph, estimated with made-up values, and with those of a run where its work depends on values. */
export interface Graph {
  readonly name: string;
  readonly said: Said;
  readonly ofRun?: Said | undefined;
}

interface Row {
  readonly name: string;
  readonly model: ModelReport;
  /** Warned of because the profile's cost decides what is left of its short kernels. */
  readonly isShort: boolean;
  readonly wholeMs: number;
  /** Relative. */
  readonly error: number;
}

/** Below this, an error counts by its microseconds as well. */
const SHORT_MS = 1;
const SHORT_ERROR = 0.2;
const SHORT_ERROR_MS = 0.05;

function modelOf(said: Said | undefined): ModelReport | undefined {
  return said?.kind === 'report' ? said.report.models[0] : undefined;
}

function rowOf(name: string, said: Said | undefined): Row | undefined {
  const model = modelOf(said);
  const { end_to_end_ms: wholeMs, normalized_latency: normalized } = model ?? {};
  if (model === undefined || typeof wholeMs !== 'number' || typeof normalized !== 'number') return undefined;
  const isShort = said?.kind === 'report' && said.report.warnings.some(({ cause }) => cause === 'short_kernels');
  return { name, model, isShort, wholeMs, error: normalized - 1 };
}

function signed(share: number): string {
  return `${share < 0 ? '' : '+'}${percent(100 * share)}`;
}

/** What the command says before the number, or which kernel differs most. */
function remarkOf({ model, isShort }: Row): string {
  const madeUp = (model.made_up_values?.operators ?? []).map(({ operator, count }) => `${count} ${operator}`);
  if (madeUp.length > 0) return `warned: made-up values decide the work of ${madeUp.join(', ')}`;
  if (model.coverage < 1) return `warned: ${percent(100 * model.coverage)} covered`;
  if (isShort) return 'warned: short kernels';
  if (isWide(model)) return 'warned: wide interval';
  const worst = model.check?.bricks.find(({ is_outside: isOutside }) => isOutside === true);
  if (worst === undefined) return '';
  const times = [worst.bricks_ms, worst.kernels_ms].map((ms) => (ms ?? 0).toPrecision(3));
  return `${worst.operators.join('+')} (${worst.sequences}): ${times[0]} ms by its brick, ${times[1]} in the whole graph`;
}

function tableRow(row: Row): string {
  const { name, model, wholeMs, error } = row;
  const { end_to_end_repeat_ms: again, estimate_ms: ms, estimate_high_ms: high, interval_hit: hit } = model;
  const half = typeof ms === 'number' && typeof high === 'number' ? percent(100 * (high / ms - 1)) : '–';
  const held = hit === null ? '–' : hit ? 'yes' : 'no';
  const repeat = typeof again === 'number' ? signed(again / wholeMs - 1) : '–';
  return `| ${[name, model.kernels ?? '–', wholeMs.toPrecision(3), repeat, signed(error), half, held, remarkOf(row)].join(' | ')} |`;
}

function isPartial({ model }: Row): boolean {
  return model.made_up_values !== null || model.coverage < 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function summaryOf(rows: readonly Row[]): string[] {
  const whole = rows.filter((row) => !isPartial(row));
  const plain = whole.filter(({ isShort, model }) => !isShort && !isWide(model));
  const long = plain.filter(({ wholeMs }) => wholeMs >= SHORT_MS);
  const short = whole.filter(({ wholeMs }) => wholeMs < SHORT_MS);
  const errors = long.map(({ error }) => Math.abs(error));
  const within = (limit: number): string => `${errors.filter((error) => error <= limit).length} of ${long.length}`;
  const near = short.filter(
    ({ error, wholeMs }) => Math.abs(error) <= SHORT_ERROR || Math.abs(error) * wholeMs <= SHORT_ERROR_MS,
  );
  const judged = whole.filter(({ model }) => model.interval_hit !== null);
  const held = judged.filter(({ model }) => model.interval_hit === true);
  return [
    '| | |',
    '|---|---:|',
    `| graphs with an estimate and a measurement | ${rows.length} |`,
    `| of these with a warning before the number | ${rows.length - plain.length} |`,
    `| of a millisecond or more, without a warning: mean and median error | ${percent(100 * mean(errors))}, ${percent(100 * median(errors))} |`,
    `| ... within 5 % | ${within(0.05)} |`,
    `| ... within 10 % | ${within(0.1)} |`,
    `| shorter ones, also with a warning of short kernels or of a wide interval, within 20 % or 50 µs | ${near.length} of ${short.length} |`,
    `| intervals that hold | ${held.length} of ${judged.length} |`,
  ];
}

const HEAD = [
  '| graph | kernels | whole (ms) | repeat | error | ± | holds | remarks |',
  '|---|---:|---:|---:|---:|---:|---|---|',
];

/** The lines of docs/results/graphs.md above its analysis. */
export function documentOf(graphs: readonly Graph[], machine: string): string[] {
  const rows = graphs.flatMap(({ name, said }) => rowOf(name, said) ?? []);
  const byLength = (one: Row, other: Row): number => other.wholeMs - one.wholeMs;
  const ofRuns = graphs.flatMap(({ name, ofRun }) => rowOf(name, ofRun) ?? []);
  const without = graphs.flatMap(({ name, said }) => {
    if (rowOf(name, said) !== undefined) return [];
    const reasons = modelOf(said)?.missing.map(({ reason }) => reason) ?? [];
    const reason = said.kind === 'none' ? said.reason : (reasons[0] ?? 'no measurement of the whole model');
    return [`| ${name} | ${reason.replaceAll('|', '/').replaceAll('\n', ' ').slice(0, 300)} |`];
  });
  return [
    '# Graphs from exporters',
    '',
    'Written by `make bench-graphs`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    `The graphs are made by [test/exporters](../../test/exporters/README.md), with random weights. ${machine}`,
    'Each graph is measured whole and by its bricks with `dlbricks validate`, from an empty store. *Error* is the estimate',
    'divided by the first measurement of the whole model, less one; *repeat* is the second measurement, likewise; *holds*',
    'says whether the interval contains the measurement. A remark without *warned* names the brick that differs most from',
    'its kernels in the whole graph, if that is more than its interval.',
    '',
    ...summaryOf(rows),
    '',
    ...HEAD,
    ...rows.toSorted(byLength).map(tableRow),
    ...(ofRuns.length === 0
      ? []
      : ['', 'Those with made-up values once more, with `--values-of-run`:', '', ...HEAD, ...ofRuns.map(tableRow)]),
    ...(without.length === 0 ? [] : ['', '| graph | why it has no figures |', '|---|---|', ...without]),
  ];
}
