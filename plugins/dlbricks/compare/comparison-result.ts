import {
  buildProvenance,
  type Column,
  counted,
  distinctByContent,
  fittingTable,
  formatMs,
  groupedBy,
  left,
  oneLine,
  type Origin,
  type Page,
  rangeChart,
  rangePlot,
  right,
  type Shown,
  sumOf,
  type TableResult,
  textTable,
  UNKNOWN,
  wrap,
  leftOutLines,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { toPercent, percent } from '../report/figures.js';
import { SAME_MEASUREMENTS, type Warning } from './compare-reports.js';
import { type Comparison, ratioFields } from './comparison.js';
import {
  type ComparedBrick,
  type ComparedModel,
  type ComparisonDocument,
  FORMAT,
  type Verdict,
  VERDICTS,
} from './comparison-schema.js';

export interface ComparedSides {
  readonly before: string;
  readonly after: string;
  /** By default, reports state it. */
  readonly origin?: Origin | undefined;
}

function named(side: string, warnings: readonly Warning[] = []): Warning[] {
  return warnings.map(({ cause, message }) => ({ cause, message: `${side}: ${message}` }));
}

export function comparisonDocument(
  comparison: Comparison,
  { before, after, origin }: ComparedSides,
): ComparisonDocument {
  const { aspects, models, overall, bricks, unmatched, unpaired, withoutBricks, rounds = null, warnings } = comparison;
  const [aspect, ...others] = aspects;
  const ofReports = 'the two reports state it';
  return {
    format: FORMAT,
    provenance: buildProvenance(origin ?? { reasons: { protocol: ofReports, host: ofReports, stack: ofReports } }),
    rounds,
    before,
    after,
    aspects: [...aspects],
    put_down_to: others.length === 0 ? (aspect?.aspect ?? null) : null,
    warnings: distinctByContent([...named(before, warnings?.before), ...named(after, warnings?.after)]),
    models: [...models],
    geometric_mean: { models: models.filter(({ ratio }) => ratio !== null).length, ...ratioFields(overall) },
    bricks: bricks.toSorted((a, b) => Math.abs(b.difference_ms) - Math.abs(a.difference_ms)),
    unmatched_before_percent: toPercent(unmatched.before),
    unmatched_after_percent: toPercent(unmatched.after),
    no_bricks_before: withoutBricks?.before ?? null,
    no_bricks_after: withoutBricks?.after ?? null,
    only_before: unpaired.before.map(({ label }) => label),
    only_after: unpaired.after.map(({ label }) => label),
  };
}

type Change = Pick<ComparedModel, 'ratio' | 'ratio_low' | 'ratio_high'>;

/** A change in percent, with the ends of its interval: "+3.1 % (+1.0 to +5.2)". */
function change({ ratio, ratio_low: low, ratio_high: high }: Change): string {
  if (ratio === null) return UNKNOWN;
  const signed = (value: number): string => `${value >= 1 ? '+' : ''}${((value - 1) * 100).toFixed(1)}`;
  const interval = low === null || high === null ? '' : ` (${signed(low)} to ${signed(high)})`;
  return `${signed(ratio)} %${interval}`;
}

const COLUMNS: readonly Column<ComparedModel>[] = [
  left('model', ({ label }) => oneLine(label)),
  right('batch', ({ batch }) => String(batch)),
  right('before (ms)', (row) => formatMs(row.before_ms)),
  right('after (ms)', (row) => formatMs(row.after_ms)),
  right('change', change),
  right('seen from', (row) => percent(row.seen_from_percent)),
  right(
    'change measured',
    ({ measured_ratio: ratio, measured_ratio_low: ratio_low, measured_ratio_high: ratio_high }) =>
      change({ ratio, ratio_low, ratio_high }),
  ),
  left('verdict', ({ verdict, reason }) => (reason === null ? (verdict ?? UNKNOWN) : 'not compared')),
];

const DISPENSABLE = ['batch', 'change measured', 'seen from', 'before (ms)', 'after (ms)'];

const BRICK_COLUMNS: readonly Column<ComparedBrick>[] = [
  left('brick', kernelsText),
  { ...left('signature', ({ signature }) => signature.slice(0, 8)), whole: ({ signature }) => signature },
  right('before (ms)', (row) => formatMs(row.before_ms)),
  right('after (ms)', (row) => formatMs(row.after_ms)),
  right('change', change),
  right('sequences', ({ models }) => String(sumOf(models.map((of) => of.sequences)))),
  right('all (ms)', (row) => (row.difference_ms > 0 ? '+' : '') + row.difference_ms.toFixed(3)),
  left('largest in', ({ models }) => oneLine(findLargest(models))),
];

const DISPENSABLE_OF_BRICKS = ['signature', 'largest in', 'before (ms)', 'after (ms)'];

function kernelsText({ operators, after_operators: after }: ComparedBrick): string {
  const label = operatorsLabel(operators);
  return oneLine(after === null ? label : `${label} → ${operatorsLabel(after)}`);
}

const MAX_BRICKS = 10;

function findLargest(models: ComparedBrick['models']): string {
  const [largest] = models.toSorted((a, b) => Math.abs(b.difference_ms) - Math.abs(a.difference_ms));
  return largest?.name ?? '';
}

function isChange({ verdict }: { readonly verdict: Verdict | null }): boolean {
  return verdict === 'faster' || verdict === 'slower';
}

function causeText(document: ComparisonDocument): string {
  const { aspects, put_down_to: cause, rounds, geometric_mean: overall, models, bricks } = document;
  const [only] = aspects;
  if (only === undefined) {
    return rounds !== null
      ? 'both sides have the same machine, runtime and settings'
      : 'machine, runtime and settings are the same; what differs is the time of measuring, or the load of the machine';
  }
  if (cause !== null) {
    const isPutDown = [overall, ...models, ...bricks].some(isChange);
    return `only ${cause} differs (${only.before}, then ${only.after})${isPutDown ? ', so the changes are put down to it' : ''}`;
  }
  const list = aspects.map(({ aspect, before, after }) => `${aspect} (${before}, then ${after})`).join('; ');
  return `confounded: ${counted(aspects.length, 'aspect')} differ, so no change is put down to one of them: ${list}`;
}

/** A model with several rows counts as one model only. */
function rowsText(rows: readonly ComparedModel[]): string {
  return counted(rows.length, new Set(rows.map(({ model }) => model)).size === rows.length ? 'model' : 'row');
}

function listNotes(document: ComparisonDocument): string[] {
  const { geometric_mean: overall, models } = document;
  const { unmatched_before_percent: before, unmatched_after_percent: after } = document;
  const compared = models.filter(({ ratio }) => ratio !== null);
  const lines: string[] = [];
  if (overall.models > 1) {
    const verdict = overall.verdict === null ? '' : `: ${overall.verdict}`;
    lines.push(`geometric mean over ${rowsText(compared)}: ${change(overall)}${verdict}`);
  }
  if (document.rounds !== null) {
    const { rounds, before: first, after: second } = document;
    lines.push(`${counted(rounds, 'round')} of ${oneLine(first)} (before) and ${oneLine(second)} (after) by turns`);
  }
  if (models.some((row) => row.reason === null && row.no_verdict !== SAME_MEASUREMENTS)) {
    lines.push(causeText(document));
  }
  for (const { label, reason } of models) if (reason !== null) lines.push(`${oneLine(label)}: not compared: ${reason}`);
  const unclear = groupedBy(
    models.filter((row) => row.no_verdict !== null),
    (row) => row.no_verdict ?? '',
  );
  for (const [reason, rows] of unclear) {
    lines.push(`no verdict for ${rows.map(({ label }) => oneLine(label)).join(', ')}: ${oneLine(reason)}`);
  }
  for (const [names, side] of [
    [document.only_before, document.before],
    [document.only_after, document.after],
  ] as const) {
    if (names.length > 0) lines.push(`only in ${side}: ${names.map((name) => oneLine(name)).join(', ')}`);
  }
  const without = new Set([document.no_bricks_before, document.no_bricks_after].flatMap((reason) => reason ?? []));
  for (const reason of without) lines.push(`bricks not compared: ${oneLine(reason)}`);
  if ((before ?? 0) > 0 || (after ?? 0) > 0) {
    lines.push(
      `in kernels without a counterpart: ${percent(before)} of the time before, ${percent(after)} of the time after`,
    );
  }
  return lines;
}

function warningLines({ warnings }: ComparisonDocument): string[] {
  return warnings.map(({ message }) => `warning: ${oneLine(message)}`);
}

function buildTableResult(document: ComparisonDocument): TableResult {
  const keys = Object.keys(document.models[0] ?? {}) as (keyof ComparedModel)[];
  return {
    document,
    records: { keys, rows: document.models.map((row) => keys.map((key) => row[key])) },
    table: textTable(COLUMNS, document.models),
    warnings: warningLines(document),
    notes: listNotes(document),
  };
}

function changedBricks({ bricks }: ComparisonDocument): readonly ComparedBrick[] {
  return bricks.filter(isChange).slice(0, MAX_BRICKS);
}

function whyNoBrick({ bricks, no_bricks_before: before, no_bricks_after: after }: ComparisonDocument): string[] {
  if (bricks.length === 0) return (before ?? after) === null ? ['the two have no brick in common'] : [];
  const unclear = bricks.filter(({ verdict }) => verdict === null).length;
  return [unclear > 0 ? `no verdict for ${counted(unclear, 'brick')}` : 'no brick changed by more than could be seen'];
}

function buildPage(document: ComparisonDocument): Page {
  const { before, after, models, geometric_mean: overall, bricks } = document;
  const of = (one: Verdict | null): number => models.filter(({ verdict }) => verdict === one).length;
  const mean = overall.models > 1 ? ` Geometric mean: ${change(overall)}.` : '';
  const seen = [...VERDICTS, null].flatMap((one) => {
    return of(one) > 0 ? [`${one ?? 'without a verdict'}: ${of(one)}`] : [];
  });
  const chart = rangeChart({
    unit: 'time after over time before',
    words: { value: 'ratio', interval: 'its interval', other: 'as before' },
    ranges: models.map((row) => {
      const { label, ratio, ratio_low: low, ratio_high: high, verdict, reason } = row;
      const text = reason === null ? `${change(row)}${verdict === null ? '' : `: ${verdict}`}` : 'not compared';
      return { name: label, value: ratio, low, high, other: ratio === null ? null : 1, text };
    }),
  });
  return {
    title: `${after} compared with ${before}`,
    verdict: `Of ${rowsText(models)}: ${seen.join(', ')}.${mean}`,
    sections: [
      { title: 'Models', chart, table: textTable(COLUMNS, models) },
      { title: 'Bricks', lead: 'The largest differences first.', table: textTable(BRICK_COLUMNS, bricks) },
    ],
  };
}

function drawComparison(document: ComparisonDocument): string {
  const { before, after, models } = document;
  const ofModels = models.map((row) => ({ ...row, name: row.label }));
  const ofBricks = changedBricks(document).map((row) => ({ ...row, name: `  ${kernelsText(row)}` }));
  const ranges = [...ofModels, ...ofBricks].flatMap((row) => {
    const { name, ratio: value, ratio_low: low, ratio_high: high } = row;
    return value === null ? [] : [{ name, value, low, high, text: change(row), isMarked: isChange(row) }];
  });
  const titles = { title: `${after} compared with ${before}`, xTitle: 'time after over time before', yTitle: '' };
  return rangePlot({ ...titles, reference: 1, ranges }) ?? '';
}

export function shownComparison(document: ComparisonDocument): Shown {
  return {
    pictures: { svg: () => drawComparison(document) },
    result: () => buildTableResult(document),
    page: () => buildPage(document),
    text: ({ width = Infinity }) => {
      const models = fittingTable(COLUMNS, document.models, { width, dispensable: DISPENSABLE });
      const rows = changedBricks(document);
      const bricks = fittingTable(BRICK_COLUMNS, rows, { width, dispensable: DISPENSABLE_OF_BRICKS });
      const all = document.bricks.length;
      const heading = `bricks that changed, by what they cost in all models (${rows.length} of ${all}):`;
      const ofBricks = rows.length === 0 ? whyNoBrick(document) : [heading, bricks.text];
      const wrapped = (lines: readonly string[]) => lines.map((line) => wrap(line, width, '  '));
      const warnings = wrapped(warningLines(document));
      const notes = wrapped(listNotes(document));
      return [...warnings, models.text, ...leftOutLines(models, width), ...notes, ...ofBricks, ''].join('\n');
    },
  };
}
