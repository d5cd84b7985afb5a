import {
  type Column,
  counted,
  differences,
  distinctByContent,
  drawn,
  formatMs,
  gigabytes,
  groupedBy,
  icicleChart,
  left,
  mean,
  type Page,
  type PageSection,
  type PartOfTime,
  partsByKind,
  rangeChart,
  right,
  stackText,
  sumOf,
  textTable,
  UNKNOWN,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { kernelsText } from './critical-path.js';
import { columnsFor, estimateHint, type Row, makeRows } from './columns.js';
import { calibrationPlot } from './interval-scores.js';
import type { Report } from './report-schema.js';
import { newAmong, savingsSections } from './savings.js';
import { rowName } from './table.js';
import { percent } from './figures.js';

type Brick = Row['model']['bricks'][number];

/** The columns take the type of the rows. */
function tableOf<Item>(rows: readonly Item[], columns: readonly Column<Item>[]) {
  return textTable(columns, rows);
}

interface NamedRow extends Row {
  readonly name: string;
}

interface BrickRow extends Brick {
  readonly row: NamedRow;
  readonly allMs: number;
}

function listBrickRows(row: NamedRow): readonly BrickRow[] {
  return row.model.bricks.map((brick) => ({ ...brick, row, allMs: (brick.latency_ms ?? 0) * brick.sequences }));
}

function nameRows(reports: readonly Report[]): readonly NamedRow[] {
  const machineOf = ({ system }: Report): string => system.processor;
  const versionOf = ({ system }: Report): string => `${system.framework} ${system.framework_version}`;
  const differing = differences(reports, [machineOf, versionOf]);
  const join = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(', ');
  const rows = makeRows(reports).map((row): NamedRow => {
    return { ...row, name: join([rowName(row, reports), differing(row.report)]) };
  });
  if (new Set(rows.map(({ name }) => name)).size === rows.length) return rows;
  // The same models on the same machine at different times.
  return rows.map((row) => ({ ...row, name: join([row.name, row.report.provenance?.created_at ?? '']) }));
}

const MAX_NAMED = 4;

function joined(texts: readonly string[]): string {
  const different = [...new Set(texts)];
  const rest = different.length - MAX_NAMED;
  return rest > 0 ? `${different.slice(0, MAX_NAMED).join(', ')} and ${rest} more` : different.join(', ');
}

function formatTitle(reports: readonly Report[]): string {
  const names = reports.flatMap(({ models }) => models.map(({ name }) => name));
  return `Latency of ${joined(names)} on ${joined(reports.map(({ system }) => stackText(system)))}`;
}

function formatVerdict(rows: readonly Row[]): string {
  const errors = rows.flatMap(({ model: { name, normalized_latency: value } }) =>
    value === null ? [] : [{ name, percent: Math.abs(value - 1) * 100 }],
  );
  const estimated = rows.filter(({ model }) => model.estimate_ms !== null).length;
  const models = new Set(rows.map(({ model }) => model.name)).size;
  const [worst] = errors.toSorted((a, b) => b.percent - a.percent);
  if (worst === undefined) {
    const [only] = rows;
    const one = only && rows.length === 1 ? `: ${estimateHint(only) ?? 'it has none'}` : '';
    return `${estimated} of ${counted(rows.length, models === rows.length ? 'model' : 'row')} estimated${one}. No whole model was measured to compare with.`;
  }
  const average = mean(errors.map((error) => error.percent));
  const judged = rows.filter(({ model }) => model.interval_hit !== null);
  const hits = judged.filter(({ model }) => model.interval_hit).length;
  const within = judged.length === 0 ? '' : ` Measured latencies within their intervals: ${hits} of ${judged.length}.`;
  const much =
    errors.length === 1
      ? `The estimate is off by ${percent(average)}.`
      : `The estimates are off by ${percent(average)} on average, and by ${percent(worst.percent)} at most (${worst.name}).`;
  return `${much}${within}`;
}

function comparisonSection(reports: readonly Report[], rows: readonly NamedRow[]): PageSection {
  const isCompared = rows.some(({ model }) => model.end_to_end_ms !== null);
  const [first] = reports;
  const level = percent((first?.settings.confidence ?? 0) * 100, 0);
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'estimate', interval: `its ${level} interval`, other: 'whole model, measured' },
    ranges: rows.map((row) => {
      const { estimate_ms: ms, estimate_low_ms: low, estimate_high_ms: high, end_to_end_ms: measured } = row.model;
      const interval = low === null || high === null ? '' : ` (${formatMs(low)} to ${formatMs(high)})`;
      const other = measured === null ? '' : `; measured ${formatMs(measured)} ms`;
      const hint = estimateHint(row);
      return {
        ...{ name: row.name, value: ms, low, high, other: measured },
        text: ms === null ? `no estimate${other}` : `${formatMs(ms)} ms${interval}${other}`,
        ...(hint !== undefined && { hint: `${row.name}: ${hint}` }),
      };
    }),
  });
  const table = textTable(columnsFor(reports, { wide: true }), rows);
  return { title: isCompared ? 'Estimated and measured' : 'Estimated', chart, table };
}

function firstOperator({ operators }: Brick): string {
  return operators[0] ?? UNKNOWN;
}

const OUTSIDE = '(outside of the bricks)';

/** The part of an estimate that is in no brick: of an empty call, and of handing over outputs. */
function outsideMs(row: NamedRow): number {
  const rest = (row.model.estimate_ms ?? 0) - sumOf(listBrickRows(row).map(({ allMs }) => allMs));
  return rest < MIN_OUTSIDE_MS ? 0 : rest;
}

/** Less is a rounding error, or not visible. */
const MIN_OUTSIDE_MS = 0.0005;

/** Model, repeated block or operator, brick. */
function listTimes(row: NamedRow): PartOfTime {
  const { name } = row;
  const rows = new Map(listBrickRows(row).map((brick) => [brick.signature, brick]));
  const buildPart = (brick: BrickRow, sequences: number, kind: string) => {
    const label = operatorsLabel(brick.operators);
    const much = `${sequences} x ${formatMs(brick.latency_ms)} ms`;
    const samples = `${counted(brick.occasions, 'occasion')}, ${counted(brick.runs, 'timed run')}`;
    const hint = `${label} ${brick.signature.slice(0, 8)} in ${kind} of ${name}: ${much}; ${samples}`;
    return { kind, name: label, ms: (brick.latency_ms ?? 0) * sequences, hint };
  };
  const blocks = row.model.repeated_blocks;
  const repeated = blocks.flatMap(({ count, bricks }, index) => {
    const kind = `${count} x block${blocks.length > 1 ? ` ${index + 1}` : ''}`;
    return bricks.flatMap(({ signature, sequences }) => {
      const brick = rows.get(signature);
      return brick === undefined ? [] : [{ signature, sequences: count * sequences, kind, brick }];
    });
  });
  const inBlocks = groupedBy(repeated, ({ signature }) => signature);
  const others = [...rows.values()].flatMap((brick) => {
    const rest = brick.sequences - sumOf((inBlocks.get(brick.signature) ?? []).map(({ sequences }) => sequences));
    return rest > 0 ? [buildPart(brick, rest, firstOperator(brick))] : [];
  });
  const outside = outsideMs(row);
  return partsByKind(name, [
    ...(outside === 0 ? [] : [{ kind: OUTSIDE, name: OUTSIDE, ms: outside }]),
    ...repeated.map(({ brick, sequences, kind }) => buildPart(brick, sequences, kind)),
    ...others,
  ]);
}

function timeSections(rows: readonly NamedRow[]): readonly PageSection[] {
  const bricks = rows.flatMap(listBrickRows);
  if (bricks.length === 0) return [];
  const totals = new Map(
    rows.map((row) => [row, outsideMs(row) + sumOf(listBrickRows(row).map(({ allMs }) => allMs))]),
  );
  const all = sumOf(totals.values());
  const outside = sumOf(rows.map(outsideMs));
  const ofBricks = [...groupedBy(bricks, firstOperator)].map(([key, of]) => {
    return { key, of, ms: sumOf(of.map(({ allMs }) => allMs)) };
  });
  const byType = [...ofBricks, ...(outside === 0 ? [] : [{ key: OUTSIDE, of: [], ms: outside }])].sort(
    (a, b) => b.ms - a.ms,
  );
  const types = tableOf(byType, [
    left('operator', ({ key }) => key),
    right('bricks', ({ of }) => String(new Set(of.map(({ signature }) => signature)).size)),
    right('sequences', ({ of }) => String(sumOf(of.map(({ sequences }) => sequences)))),
    right('all (ms)', ({ ms }) => formatMs(ms)),
    right('share', ({ ms }) => percent((100 * ms) / all)),
  ]);
  const sorted = bricks.toSorted((a, b) => b.allMs - a.allMs);
  const ofAll = tableOf(sorted, [
    left('model', ({ row }) => row.name),
    left('brick', ({ operators }) => operatorsLabel(operators)),
    {
      ...left('signature', ({ signature }) => signature.slice(0, 8)),
      whole: ({ signature }) => signature,
      link: ({ signature }) => `bricks/${signature}`,
    },
    right('sequences', ({ sequences }) => String(sequences)),
    right('one (ms)', ({ latency_ms: ms }) => formatMs(ms)),
    right('all (ms)', ({ allMs }) => formatMs(allMs)),
    right('share of model', ({ row, allMs }) => percent((100 * allMs) / (totals.get(row) ?? 0))),
    right('occasions', ({ occasions }) => String(occasions)),
    right('runs', ({ runs }) => String(runs)),
    left('measured', ({ measured }) => measured),
  ]);
  return [
    {
      title: 'Where the time goes',
      lead: 'Each model above its repeated blocks and its other operators, and these above their bricks. Widths are estimated times, on one scale for all models. Outside of the bricks are the empty call and the handing over of outputs.',
      chart: icicleChart(rows.map(listTimes)),
      table: types,
    },
    {
      title: 'Bricks',
      lead: 'The parts of each estimate. A brick stands for a number of sequences of its model.',
      table: ofAll,
    },
  ];
}

function pathSections(rows: readonly NamedRow[]): readonly PageSection[] {
  const branched = rows.filter(({ model }) => model.parallelism !== null && model.parallelism > 1.001);
  const onPath = branched.flatMap((row) => {
    return row.model.critical_path.flatMap((one) =>
      one.latency_ms === null ? [] : [{ ...one, row, ms: one.latency_ms }],
    );
  });
  if (onPath.length === 0) return [];
  const table = tableOf(onPath, [
    left('model', ({ row }) => row.name),
    left('kernel', ({ kernels }) => kernelsText(kernels) ?? UNKNOWN),
    left('operators', ({ operators }) => operatorsLabel(operators)),
    right('time (ms)', ({ ms }) => formatMs(ms)),
    right('share of the path', ({ row, ms }) => percent((100 * ms) / (row.model.parallel_ms ?? 0))),
  ]);
  const lead =
    'The heaviest path through the graph: the model takes no less, however many sequences run at the same time.';
  const paths = branched.map((row) => {
    const parts = row.model.critical_path.map(({ kernels, operators, latency_ms: ms }) => {
      const kind = operatorsLabel(operators);
      return { kind, name: kernelsText(kernels) ?? kind, ms: ms ?? 0 };
    });
    return partsByKind(row.name, parts);
  });
  return [{ title: 'Longest path', lead, chart: icicleChart(paths), table }];
}

function missingSections(rows: readonly NamedRow[]): readonly PageSection[] {
  const missing = rows.flatMap((row) => row.model.missing.map((one) => ({ row, ...one })));
  if (missing.length === 0) return [];
  const table = tableOf(missing, [
    left('model', ({ row }) => row.name),
    left('what', ({ benchmark, operators }) => (benchmark === 'brick' ? operatorsLabel(operators) : 'whole model')),
    left('inputs', ({ shapes }) => shapes.join(', ')),
    right('sequences', ({ sequences }) => String(sequences)),
    left('reason', ({ reason }) => reason),
  ]);
  return [{ title: 'Missing', lead: 'What has no measurement. It is in no sum.', table }];
}

function checkSections(rows: readonly NamedRow[]): readonly PageSection[] {
  const checked = rows.flatMap((row) => (row.model.check?.bricks ?? []).map((one) => ({ row, ...one })));
  if (checked.length === 0) return [];
  const table = tableOf(checked, [
    left('model', ({ row }) => row.name),
    left('brick', ({ operators }) => operatorsLabel(operators)),
    left('kernel', ({ kernel }) => kernel),
    right('sequences', ({ sequences }) => String(sequences)),
    right('whole graph (ms)', ({ kernels_ms: ms }) => formatMs(ms)),
    right('by brick (ms)', ({ bricks_ms: ms }) => formatMs(ms)),
    left('outside', ({ is_outside: is }) => (is === null ? UNKNOWN : is ? 'yes' : 'no')),
  ]);
  const lead = 'Kernels in one run of the whole graph, and the same kernels by their bricks.';
  return [{ title: 'Check', lead, table }];
}

/** Of reports that differ in their settings, those whose numbers differ. */
function savings(reports: readonly Report[]): readonly PageSection[] {
  const added = reports.map(({ models }) => {
    const newBricks = newAmong(models.map(({ bricks }) => bricks.map(({ signature }) => signature)));
    return models.map(({ name, bricks }, index) => {
      return { name, sequences: sumOf(bricks.map((brick) => brick.sequences)), new_bricks: newBricks[index] ?? 0 };
    });
  });
  return distinctByContent(added).flatMap(savingsSections);
}

function calibrationSections(reports: readonly Report[]): readonly PageSection[] {
  const judged = reports.filter(({ summary }) => summary.intervals.some(({ models }) => models > 1));
  return judged.map(({ summary, evaluation }) => {
    const title = `Calibration of the intervals${reports.length > 1 && evaluation !== null ? `, ${evaluation}` : ''}`;
    return { title, chart: drawn(calibrationPlot(title, summary)) };
  });
}

function conditionsSection(reports: readonly Report[]): PageSection {
  const facts = reports.flatMap(({ system, settings, evaluation }) => [
    { fact: 'evaluation', value: evaluation ?? UNKNOWN },
    { fact: 'processor', value: `${system.processor} (${system.architecture})` },
    { fact: 'cores and memory', value: `${counted(system.cores, 'core')}, ${gigabytes(system.memory_bytes)}` },
    { fact: 'operating system', value: system.operating_system },
    {
      fact: 'runtime',
      value: `${system.framework} ${system.framework_version}, ${system.execution_provider}, optimization ${system.optimization_level}`,
    },
    { fact: 'threads', value: String(system.threads) },
    { fact: 'batch', value: String(settings.batch) },
    { fact: 'cut', value: `${settings.cut}, at most ${counted(settings.granularity, settings.cut)} a brick` },
    {
      fact: 'runs',
      value: `${settings.min_runs} to ${settings.runs} after ${counted(settings.warmup_runs, 'warm-up')}, ${settings.statistic}`,
    },
    { fact: 'fingerprint', value: system.fingerprint },
  ]);
  return {
    title: 'Conditions',
    table: tableOf(distinctByContent(facts), [left('fact', ({ fact }) => fact), left('value', ({ value }) => value)]),
  };
}

export function reportPage(reports: readonly Report[]): Page {
  const rows = nameRows(reports);
  return {
    title: formatTitle(reports),
    verdict: formatVerdict(rows),
    sections: [
      comparisonSection(reports, rows),
      ...missingSections(rows),
      ...timeSections(rows),
      ...pathSections(rows),
      ...savings(reports),
      ...checkSections(rows),
      ...calibrationSections(reports),
      conditionsSection(reports),
    ],
  };
}
