import {
  type Column,
  counted,
  fittingTable,
  leftOutLines,
  oneLine,
  type Origin,
  provenanceField,
  buildProvenance,
  type Page,
  rangeChart,
  rangePlot,
  type Shown,
  sumOf,
  type TableResult,
  textTable,
  wrap,
  z,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { toPercent } from '../report/figures.js';
import { formatMs, percent, UNKNOWN } from '../report/words.js';
import { type ComparedModel, type Comparison, type Ratio, seenFrom, type Verdict, judgeRatio } from './comparison.js';

const FORMAT = 'dlbricks-comparison/1';

const VERDICTS = ['faster', 'slower', 'no difference seen'] as const satisfies readonly Verdict[];

const known = z.number().nullable();

const ratioSchema = {
  ratio: known.describe('Time after over time before'),
  ratio_low: known.describe(
    'Lower end of its interval; the intervals of a table contain all ratios at once with 95 % probability',
  ),
  ratio_high: known,
  verdict: z.enum(VERDICTS).nullable().describe('null where the interval is not known'),
};

const rowSchema = z.strictObject({
  model: z.string(),
  batch: z.int(),
  threads_before: z.int(),
  threads_after: z.int(),
  before_ms: known.describe('Estimate'),
  after_ms: known,
  ...ratioSchema,
  seen_from_percent: known.describe('The smallest difference that would have been seen'),
  measured_ratio: known.describe('The same ratio of the whole models as measured; null where one was not measured'),
  measured_ratio_low: known.default(null).describe('null where the interval is not known'),
  measured_ratio_high: known.default(null),
  reason: z.string().nullable().describe('Why the two are not compared; null where they are'),
});

export const comparisonSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  rounds: z
    .int()
    .nullable()
    .default(null)
    .describe('Rounds in which both sides were measured by turns; null where each side was measured on its own'),
  before: z.string().describe('The first side: the file of a report, or what was measured'),
  after: z.string(),
  aspects: z
    .array(z.strictObject({ aspect: z.string(), before: z.string(), after: z.string() }))
    .describe('Facts about machine, runtime and settings that differ'),
  put_down_to: z
    .string()
    .nullable()
    .describe('The only aspect that differs; null where none differs, or several do, so that no cause is known'),
  models: z.array(rowSchema),
  geometric_mean: z.strictObject({ models: z.int(), ...ratioSchema }),
  bricks: z
    .array(
      z.strictObject({
        signature: z.string(),
        operators: z.array(z.string()),
        after_operators: z
          .array(z.string())
          .nullable()
          .default(null)
          .describe('Where the sides have different kernels between the same values: those of the second side'),
        before_ms: z.number(),
        after_ms: z.number(),
        ...ratioSchema,
        difference_ms: z.number().describe('Over all sequences of all models'),
        models: z.array(z.strictObject({ name: z.string(), sequences: z.int(), difference_ms: z.number() })),
      }),
    )
    .describe(
      'What both sides have, the largest differences first: bricks of one signature, then kernels between the same values',
    ),
  unmatched_before_percent: known.describe('Share of the time before in bricks that only this side has'),
  unmatched_after_percent: known,
  no_bricks_before: z.string().nullable().describe('Why the side has no bricks of some models, and the remedy'),
  no_bricks_after: z.string().nullable(),
  only_before: z.array(z.string()).describe('Models of the first report alone'),
  only_after: z.array(z.string()),
});

type Document = z.infer<typeof comparisonSchema>;
type Row = Document['models'][number];

function ratioFields(ratio: Ratio | undefined): Pick<Row, 'ratio' | 'ratio_low' | 'ratio_high' | 'verdict'> {
  if (ratio === undefined) return { ratio: null, ratio_low: null, ratio_high: null, verdict: null };
  const { low, high } = ratio;
  return { ratio: ratio.ratio, ratio_low: low, ratio_high: high, verdict: judgeRatio(ratio) ?? null };
}

function buildRow({ name, batch, threads, beforeMs, afterMs, ratio, measuredRatio, reason }: ComparedModel): Row {
  return {
    model: name,
    batch,
    threads_before: threads[0],
    threads_after: threads[1],
    before_ms: beforeMs,
    after_ms: afterMs,
    ...ratioFields(ratio),
    seen_from_percent: toPercent(ratio && seenFrom(ratio)),
    measured_ratio: measuredRatio?.ratio ?? null,
    measured_ratio_low: measuredRatio?.low ?? null,
    measured_ratio_high: measuredRatio?.high ?? null,
    reason: reason ?? null,
  };
}

export interface ComparedSides {
  readonly before: string;
  readonly after: string;
  /** By default, reports state it. */
  readonly origin?: Origin | undefined;
}

export function comparisonDocument(comparison: Comparison, { before, after, origin }: ComparedSides): Document {
  const { aspects, models, overall, bricks, unmatched, unpaired, withoutBricks, rounds = null } = comparison;
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
    models: models.map(buildRow),
    geometric_mean: { models: models.filter(({ ratio }) => ratio !== undefined).length, ...ratioFields(overall) },
    bricks: bricks.map(
      ({ signature, operators, afterOperators, beforeMs, afterMs, ratio, verdict, differenceMs, ...rest }) => ({
        signature,
        operators: [...operators],
        after_operators: afterOperators === undefined ? null : [...afterOperators],
        before_ms: beforeMs,
        after_ms: afterMs,
        ...ratioFields(ratio),
        verdict: verdict ?? null,
        difference_ms: differenceMs,
        models: rest.models.map((of) => ({ name: of.name, sequences: of.sequences, difference_ms: of.differenceMs })),
      }),
    ),
    unmatched_before_percent: toPercent(unmatched.before),
    unmatched_after_percent: toPercent(unmatched.after),
    no_bricks_before: withoutBricks?.before ?? null,
    no_bricks_after: withoutBricks?.after ?? null,
    only_before: [...unpaired.before],
    only_after: [...unpaired.after],
  };
}

/** A change in percent, with the ends of its interval: "+3.1 % (+1.0 to +5.2)". */
function change({ ratio, ratio_low: low, ratio_high: high }: Pick<Row, 'ratio' | 'ratio_low' | 'ratio_high'>): string {
  if (ratio === null) return UNKNOWN;
  const signed = (value: number): string => `${value >= 1 ? '+' : ''}${((value - 1) * 100).toFixed(1)}`;
  const interval = low === null || high === null ? '' : ` (${signed(low)} to ${signed(high)})`;
  return `${signed(ratio)} %${interval}`;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'model', align: 'left', cell: ({ model }) => oneLine(model) },
  { title: 'batch', align: 'right', cell: ({ batch }) => String(batch) },
  { title: 'before (ms)', align: 'right', cell: (row) => formatMs(row.before_ms) },
  { title: 'after (ms)', align: 'right', cell: (row) => formatMs(row.after_ms) },
  { title: 'change', align: 'right', cell: change },
  { title: 'seen from', align: 'right', cell: (row) => percent(row.seen_from_percent) },
  {
    title: 'change measured',
    align: 'right',
    cell: ({ measured_ratio: ratio, measured_ratio_low: ratio_low, measured_ratio_high: ratio_high }) =>
      change({ ratio, ratio_low, ratio_high }),
  },
  {
    title: 'verdict',
    align: 'left',
    cell: ({ verdict, reason }) => (reason === null ? (verdict ?? UNKNOWN) : 'not compared'),
  },
];

const DISPENSABLE = ['batch', 'change measured', 'seen from', 'before (ms)', 'after (ms)'];

type BrickRow = Document['bricks'][number];

const BRICK_COLUMNS: readonly Column<BrickRow>[] = [
  { title: 'brick', align: 'left', cell: kernelsText },
  { title: 'signature', align: 'left', cell: ({ signature }) => signature.slice(0, 8) },
  { title: 'before (ms)', align: 'right', cell: (row) => formatMs(row.before_ms) },
  { title: 'after (ms)', align: 'right', cell: (row) => formatMs(row.after_ms) },
  { title: 'change', align: 'right', cell: change },
  { title: 'sequences', align: 'right', cell: ({ models }) => String(sumOf(models.map((of) => of.sequences))) },
  {
    title: 'all (ms)',
    align: 'right',
    cell: (row) => (row.difference_ms > 0 ? '+' : '') + row.difference_ms.toFixed(3),
  },
  { title: 'largest in', align: 'left', cell: ({ models }) => oneLine(findLargest(models)) },
];

const DISPENSABLE_OF_BRICKS = ['signature', 'largest in', 'before (ms)', 'after (ms)'];

function kernelsText({ operators, after_operators: after }: BrickRow): string {
  const label = operatorsLabel(operators);
  return oneLine(after === null ? label : `${label} → ${operatorsLabel(after)}`);
}

const MAX_BRICKS = 10;

function findLargest(models: BrickRow['models']): string {
  const [largest] = models.toSorted((a, b) => Math.abs(b.difference_ms) - Math.abs(a.difference_ms));
  return largest?.name ?? '';
}

function causeText({ aspects, put_down_to: cause, rounds }: Document): string {
  const [only] = aspects;
  if (only === undefined) {
    return rounds !== null
      ? 'both sides have the same machine, runtime and settings'
      : 'machine, runtime and settings are the same; what differs is the time of measuring, or the load of the machine';
  }
  if (cause !== null)
    return `only ${cause} differs (${only.before}, then ${only.after}), so the changes are put down to it`;
  const list = aspects.map(({ aspect, before, after }) => `${aspect} (${before}, then ${after})`).join('; ');
  return `confounded: ${counted(aspects.length, 'aspect')} differ, so no change is put down to one of them: ${list}`;
}

function listNotes(document: Document): string[] {
  const { geometric_mean: overall, models } = document;
  const { unmatched_before_percent: before, unmatched_after_percent: after } = document;
  const lines: string[] = [];
  if (overall.models > 1) {
    const verdict = overall.verdict === null ? '' : `: ${overall.verdict}`;
    lines.push(`geometric mean over ${counted(overall.models, 'model')}: ${change(overall)}${verdict}`);
  }
  if (document.rounds !== null) {
    const { rounds, before: first, after: second } = document;
    lines.push(`${counted(rounds, 'round')} of ${oneLine(first)} (before) and ${oneLine(second)} (after) by turns`);
  }
  if (models.some(({ reason }) => reason === null)) lines.push(causeText(document));
  for (const { model, reason } of models) if (reason !== null) lines.push(`${oneLine(model)}: not compared: ${reason}`);
  const unclear = models.filter(({ ratio, verdict }) => ratio !== null && verdict === null);
  if (unclear.length > 0) {
    const names = unclear.map(({ model }) => oneLine(model)).join(', ');
    lines.push(
      `no verdict for ${names}: an estimate has no interval, or one that reaches 0; measure again on a quieter machine`,
    );
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

function buildTableResult(document: Document): TableResult {
  const keys = Object.keys(document.models[0] ?? {}) as (keyof Row)[];
  return {
    document,
    records: { keys, rows: document.models.map((row) => keys.map((key) => row[key])) },
    table: textTable(COLUMNS, document.models),
    notes: listNotes(document),
  };
}

function changedBricks({ bricks }: Document): readonly BrickRow[] {
  return bricks.filter(({ verdict }) => verdict === 'faster' || verdict === 'slower').slice(0, MAX_BRICKS);
}

function buildPage(document: Document): Page {
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
      const { model, ratio, ratio_low: low, ratio_high: high, verdict, reason } = row;
      const text = reason === null ? `${change(row)}${verdict === null ? '' : `: ${verdict}`}` : 'not compared';
      return { name: model, value: ratio, low, high, other: ratio === null ? null : 1, text };
    }),
  });
  return {
    title: `${after} compared with ${before}`,
    verdict: `Of ${counted(models.length, 'model')}: ${seen.join(', ')}.${mean}`,
    sections: [
      { title: 'Models', chart, table: textTable(COLUMNS, models) },
      { title: 'Bricks', lead: 'The largest differences first.', table: textTable(BRICK_COLUMNS, bricks) },
    ],
  };
}

function drawComparison(document: Document): string {
  const { before, after, models } = document;
  const ofModels = models.map((row) => ({ ...row, name: row.model }));
  const ofBricks = changedBricks(document).map((row) => ({ ...row, name: `  ${kernelsText(row)}` }));
  const ranges = [...ofModels, ...ofBricks].flatMap((row) => {
    const { name, ratio: value, ratio_low: low, ratio_high: high, verdict } = row;
    const isMarked = verdict === 'slower' || verdict === 'faster';
    return value === null ? [] : [{ name, value, low, high, text: change(row), isMarked }];
  });
  const titles = { title: `${after} compared with ${before}`, xTitle: 'time after over time before', yTitle: '' };
  return rangePlot({ ...titles, reference: 1, ranges }) ?? '';
}

export function shownComparison(document: Document): Shown {
  return {
    pictures: { svg: () => drawComparison(document) },
    result: () => buildTableResult(document),
    page: () => buildPage(document),
    text: ({ width = Infinity }) => {
      const models = fittingTable(COLUMNS, document.models, { width, dispensable: DISPENSABLE });
      const rows = changedBricks(document);
      const bricks = fittingTable(BRICK_COLUMNS, rows, { width, dispensable: DISPENSABLE_OF_BRICKS });
      const all = document.bricks.length;
      const none = all === 0 ? 'the two have no brick in common' : 'no brick changed by more than could be seen';
      const heading = `bricks that changed, by what they cost in all models (${rows.length} of ${all}):`;
      const ofBricks = rows.length === 0 ? [none] : [heading, bricks.text];
      const notes = listNotes(document).map((line) => wrap(line, width, '  '));
      return [models.text, ...leftOutLines(models, width), ...notes, ...ofBricks, ''].join('\n');
    },
  };
}

export type ComparisonDocument = Document;
