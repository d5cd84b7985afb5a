import { createColors } from 'picocolors';
import { fittingTable, leftOutLines, oneLine, wrap, counted, formatMs } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { BestAsked } from './best.js';
import { describeRow } from './configuration.js';
import { columnsFor, dispensableIn, type Row, makeRows } from './columns.js';
import type { Report, ModelReport } from './report-schema.js';
import { leadingLines, summaryLines } from './summary-lines.js';
import { signedRelative } from './figures.js';

const MAX_SHOWN = 5;

/** Least difference that is named, relative to the estimate. */
const MIN_SHOWN = 0.005;

type Check = NonNullable<ModelReport['check']>;
type CheckedBrick = Check['bricks'][number];

function computeDifference({ kernels_ms: kernels, bricks_ms: bricks }: CheckedBrick): number {
  return (bricks ?? 0) - (kernels ?? 0);
}

function signed(ms: number): string {
  return `${ms < 0 ? '-' : '+'}${formatMs(Math.abs(ms))} ms`;
}

function brickLine(brick: CheckedBrick): string {
  const { operators, shapes, kernel, sequences, kernels_ms: kernels, bricks_ms: bricks } = brick;
  const label = `${sequences} x ${operatorsLabel(operators)}${shapes.length === 0 ? '' : ` (${shapes.join(', ')})`}`;
  const times = `${formatMs(kernels)} ms in the graph, ${formatMs(bricks)} ms by bricks`;
  const named = kernel === '' ? '' : `; ${sequences === 1 ? '' : 'such as '}${kernel}`;
  return oneLine(`  ${signed(computeDifference(brick))}  ${label}: ${times}${named}`);
}

function errorLine(model: ModelReport, check: Check): string[] {
  const { estimate_ms: estimate, end_to_end_ms: measured } = model;
  if (estimate === null || measured === null || check.kernels_ms === null || check.bricks_ms === null) return [];
  const error = estimate - measured;
  const ofKernels = check.bricks_ms - check.kernels_ms;
  const rest = 'from the whole model itself: its own weights, the time between kernels, another time';
  return [`  error ${signed(error)}: ${signed(ofKernels)} from these kernels, ${signed(error - ofKernels)} ${rest}`];
}

function checkLines(model: ModelReport, name: string): readonly string[] {
  const { check } = model;
  if (check === null) return [];
  if (check.failure !== null) return [oneLine(`${name}: its bricks were not checked: ${check.failure}`)];
  const kernels = check.kernels_ms ?? 0;
  const bricks = check.bricks_ms ?? 0;
  const least = (model.estimate_ms ?? 0) * MIN_SHOWN;
  const differing = check.bricks.filter(({ is_outside: isOutside }) => isOutside !== false);
  const shown = differing.filter((brick) => Math.abs(computeDifference(brick)) >= least).slice(0, MAX_SHOWN);
  const outside = check.bricks.filter(({ is_outside: isOutside }) => isOutside === true).length;
  const compared = check.bricks.filter(({ is_outside: isOutside }) => isOutside !== null).length;
  const difference = signedRelative(bricks - kernels, kernels);
  const sums = `kernels take ${formatMs(kernels)} ms in one run of the whole graph, ${formatMs(bricks)} ms by bricks (${difference})`;
  const share =
    compared === 0
      ? 'bricks have no interval to compare with'
      : `${outside} of ${counted(compared, 'brick')} differ by more than the interval`;
  const left = differing.length - shown.length;
  return [
    oneLine(`check of ${name}: ${sums}; ${share}${shown.length === 0 ? '' : '; the largest differences:'}`),
    ...shown.map(brickLine),
    ...(shown.length === 0 || left === 0 ? [] : [`  and ${left} smaller; --export-json lists all`]),
    ...errorLine(model, check),
  ];
}

const MAX_MISSING_SHOWN = 5;

export interface TableOptions {
  readonly color: boolean;
  readonly width?: number | undefined;
  readonly wide?: boolean;
  readonly best?: BestAsked | undefined;
}

export function rowName({ model, report }: Row, reports: readonly Report[]): string {
  return reports.length > 1 ? `${model.name}, ${describeRow(model, report, reports)}` : model.name;
}

function missingLines(row: Row, reports: readonly Report[]): string[] {
  const name = rowName(row, reports);
  const { missing } = row.model;
  // Both measurements of a whole model fail for the same reason as a rule.
  const distinct = missing.filter(({ benchmark, reason }, index) => {
    return benchmark === 'brick' || missing.findIndex((other) => other.reason === reason) === index;
  });
  const shown = distinct.slice(0, MAX_MISSING_SHOWN).map(({ benchmark, operators, shapes, sequences, reason }) => {
    const label = `${operatorsLabel(operators)}${shapes.length === 0 ? '' : ` (${shapes.join(', ')})`}`;
    const what = benchmark === 'end_to_end' ? 'the whole model' : sequences === 0 ? label : `${sequences} x ${label}`;
    return `  ${oneLine(`${name}: missing ${what}: ${reason}`)}`;
  });
  const rest = distinct.length - shown.length;
  return rest > 0 ? [...shown, `  ${oneLine(name)}: and ${rest} more; --export-json lists all`] : shown;
}

export function toTable(
  reports: readonly Report[],
  { color, width = Infinity, wide = false, best }: TableOptions,
): string {
  const { bold, yellow } = createColors(color);
  const fitting = { width, dispensable: dispensableIn(reports), bold };
  const rows = makeRows(reports);
  const table = fittingTable(columnsFor(reports, { wide }), rows, fitting);
  const missing = rows.flatMap((row) => missingLines(row, reports));
  return [
    ...leadingLines(reports).map((line) => yellow(wrap(line, width, '  '))),
    table.text,
    ...leftOutLines(table, width),
    ...missing.map((line) => yellow(wrap(line, width, '    '))),
    ...rows.flatMap((row) => checkLines(row.model, rowName(row, reports))).map((line) => wrap(line, width, '    ')),
    ...summaryLines(reports, { wide, best }).map((line) => wrap(line, width, '  ')),
    '',
  ].join('\n');
}
