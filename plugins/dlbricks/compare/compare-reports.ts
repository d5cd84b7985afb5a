import { distinctByContent, ownValue, type EstimatedBricks, type runtimeText } from '../../../src/plugin-api.js';
import { CONFIDENCE, geometricMean } from '../estimate/statistics.js';
import { bothRatios, comparedBrick, type Comparison, judgeRatio, type Ratio } from './comparison.js';
import type { Aspect, ComparedBrick, ComparedModel } from './comparison-schema.js';
import { describeSizes } from '../report/configuration.js';
import { describeSettings, labelRows, type LabelledRow, type Row, rowKey } from './row.js';
import type { ModelReport, Report } from '../report/report-schema.js';

type ComparableBrick = EstimatedBricks['bricks'][number];

type ComparableModel = Pick<
  ModelReport,
  | 'name'
  | 'dimensions'
  | 'graph_signature'
  | 'coverage'
  | 'estimate_ms'
  | 'estimate_low_ms'
  | 'estimate_high_ms'
  | 'end_to_end_ms'
> & { readonly bricks: readonly ComparableBrick[] };

export interface Warning {
  readonly cause: string;
  readonly message: string;
}

export interface Comparable {
  readonly system: { readonly fingerprint: string; readonly threads: number } & Parameters<typeof runtimeText>[0] &
    Readonly<Record<string, unknown>>;
  readonly settings: { readonly batch: number } & Readonly<Record<string, unknown>>;
  readonly summary: Pick<Report['summary'], 'spread_percent'> & Partial<Pick<Report['summary'], 'no_interval_reason'>>;
  readonly provenance: {
    readonly tool: { readonly version: string };
    readonly host: string | null;
    readonly surroundings: NonNullable<Report['provenance']>['surroundings'];
    readonly models: readonly {
      readonly name: string;
      readonly weights: 'own' | 'made_up' | null;
      readonly file_sha256: string | null;
    }[];
  } | null;
  readonly warnings?: readonly Warning[];
  readonly models: readonly ComparableModel[];
  /** Why models have no bricks, and the remedy; undefined where all have them. */
  readonly withoutBricks?: string | undefined;
}

type Entry = ReturnType<typeof listEntries>[number];

interface EntryPair {
  readonly entries: readonly [Entry, Entry];
  readonly label: string;
}

/** Half widths in standard errors of `count` intervals that hold at once (Bonferroni; Abramowitz and Stegun 1964, 26.2.23). */
export function intervalFactor(count: number): number {
  const t = Math.sqrt(-2 * Math.log((1 - CONFIDENCE) / 2 / Math.max(1, count)));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

function positive(value: number | null): number | undefined {
  return value !== null && value > 0 ? value : undefined;
}

/** Why no interval tells two rows apart. */
export const SAME_MEASUREMENTS =
  "both sides have the same measurements; 'mlmodelscope dlbricks run' with --fresh takes new ones for the second side";

/** New measurements give an estimate and its interval other digits. */
function hasSameMeasurements(before: ComparableModel, after: ComparableModel): boolean {
  if (before.bricks.length === 0 || before.estimate_high_ms === null) return false;
  const figuresOf = ({ estimate_ms, estimate_low_ms, estimate_high_ms, end_to_end_ms, bricks }: ComparableModel) => {
    const ofBricks = bricks.map(({ signature, latency_ms }) => `${signature} ${latency_ms}`).sort();
    return [estimate_ms, estimate_low_ms, estimate_high_ms, end_to_end_ms, ...ofBricks].join();
  };
  return figuresOf(before) === figuresOf(after);
}

/**
 * The interval adds the distances to the ends in quadrature on a logarithmic scale (Zou and Donner, Statistics in
 * Medicine 27, 2008). Errors that both sides share make it too wide, never too narrow.
 */
export function compareEstimates(before: ComparableModel, after: ComparableModel, count = 1): Ratio | undefined {
  const from = positive(before.estimate_ms);
  const to = positive(after.estimate_ms);
  if (from === undefined || to === undefined) return undefined;
  if (hasSameMeasurements(before, after)) return { ratio: 1, low: null, high: null };
  const factor = intervalFactor(count) / intervalFactor(1);
  const distance = (one: number, other: number | null): number | undefined => {
    const end = positive(other);
    return end === undefined ? undefined : Math.log(end / one);
  };
  const end = (ofAfter: number | undefined, ofBefore: number | undefined, sign: 1 | -1): number | null => {
    if (ofAfter === undefined || ofBefore === undefined) return null;
    return (to / from) * Math.exp(sign * factor * Math.hypot(ofAfter, ofBefore));
  };
  return {
    ratio: to / from,
    low: end(distance(to, after.estimate_low_ms), distance(from, before.estimate_high_ms), -1),
    high: end(distance(to, after.estimate_high_ms), distance(from, before.estimate_low_ms), 1),
  };
}

function listEntries(reports: readonly Comparable[]) {
  return reports.flatMap((report) => report.models.map((model) => ({ report, model })));
}

function buildRow({ report, model }: Entry): Row {
  const { name, dimensions } = model;
  const { settings, system } = report;
  return {
    model: name,
    batch: settings.batch,
    dimensions: describeSizes(dimensions),
    threads: system.threads,
    settings: describeSettings(system, settings),
  };
}

/** What has one value on each side pairs no rows. */
function keyEntries(entries: readonly Entry[], several: Readonly<Record<'threads' | 'settings', boolean>>) {
  return new Map(
    entries.map((entry) => {
      const row = buildRow(entry);
      const paired = {
        ...row,
        threads: several.threads ? row.threads : undefined,
        settings: several.settings ? row.settings : undefined,
      };
      return [rowKey(paired), { entry, paired }] as const;
    }),
  );
}

function hasSeveral(entries: readonly Entry[], key: 'threads' | 'settings'): boolean {
  return new Set(entries.map((entry) => buildRow(entry)[key])).size > 1;
}

const ASPECTS = 'cut granularity keep_dynamic warmup_runs runs min_runs time_budget_ms'.split(' ');

/** The fingerprint follows from them. */
function listFacts({ report: { system, settings, provenance }, model }: Entry): ReadonlyMap<string, string> {
  const ofSettings = Object.fromEntries(ASPECTS.map((key) => [key, ownValue(settings, key)]));
  const ofModel = provenance?.models.find(({ name }) => name === model.name);
  const { node, libc, kernel, container, environment } = provenance?.surroundings ?? {};
  const variables = environment && Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const ofProvenance = {
    ...{ tool_version: provenance?.tool.version, host: provenance?.host },
    ...{ weights: ofModel?.weights, file_sha256: ofModel?.file_sha256 },
    ...{ node, libc, kernel, container, environment: variables?.sort().join(' ') },
  };
  const all = Object.entries<unknown>({ ...system, ...ofSettings, ...ofProvenance }).filter(([, value]) => {
    return value !== undefined && value !== null;
  });
  const facts = new Map(all.map(([aspect, value]) => [aspect, String(value)]));
  facts.delete('fingerprint');
  return facts;
}

function findAspects(pairs: readonly EntryPair[]): readonly Aspect[] {
  const found = new Map<string, Aspect>();
  for (const { entries } of pairs) {
    const [before, after] = entries;
    const afterFacts = listFacts(after);
    for (const [aspect, value] of listFacts(before)) {
      const other = afterFacts.get(aspect);
      if (other !== undefined && value !== other)
        found.set(JSON.stringify([aspect, value, other]), { aspect, before: value, after: other });
    }
  }
  return [...found.values()];
}

function pluginOf({ settings }: Comparable): string {
  const plugin = ownValue(settings, 'plugin');
  return typeof plugin === 'string' ? plugin : 'dlbricks';
}

function whyNot({ report, model: before }: Entry, { report: other, model: after }: Entry): string | undefined {
  const one = pluginOf(report);
  const two = pluginOf(other);
  if (one !== two) return `one is of the plugin ${one}, the other of ${two}; the two time different things`;
  const graphs = [before.graph_signature, after.graph_signature];
  if (graphs[0] !== null && graphs[1] !== null && graphs[0] !== graphs[1]) return 'the two have different graphs';
  const partial = [before.coverage < 1, after.coverage < 1];
  if (!partial.includes(true)) return undefined;
  const which = partial[0] === true ? 'before' : 'after';
  return `${partial.includes(false) ? `the estimate ${which} covers` : 'both estimates cover'} only a part of the model`;
}

/** Why an estimate gives a ratio no interval, and the remedy. @param which of the two, in words */
function whyNoInterval({ report, model }: Entry, which: string): string | undefined {
  const { estimate_low_ms: low, estimate_high_ms: high } = model;
  if (positive(low) !== undefined && positive(high) !== undefined) return undefined;
  const plugin = pluginOf(report);
  if (plugin !== 'dlbricks') {
    return `times of the plugin ${plugin} have no interval; 'mlmodelscope compare A B -- MODEL' measures both sides`;
  }
  if (low !== null && high === null) {
    return `work depends on made-up values (${which}); give the values with --input, or use --values-of-run`;
  }
  if (low !== null) return `an interval reaches 0 (${which}); measure again on a quieter machine`;
  const reason = report.summary.no_interval_reason ?? undefined;
  const problem = `an estimate has no interval (${which}${reason === undefined ? '' : `: ${reason}`})`;
  return `${problem}; 'mlmodelscope dlbricks run' without --repeat-limit measures bricks on several occasions`;
}

function whyNoVerdict([before, after]: EntryPair['entries'], ratio: Ratio | undefined): string | null {
  if (ratio === undefined || judgeRatio(ratio) !== undefined) return null;
  if (hasSameMeasurements(before.model, after.model)) return SAME_MEASUREMENTS;
  const ofBoth = whyNoInterval(before, 'before and after');
  if (ofBoth === whyNoInterval(after, 'before and after')) return ofBoth ?? null;
  return [whyNoInterval(before, 'before'), whyNoInterval(after, 'after')].filter((why) => why !== undefined).join('; ');
}

function comparedModel({ entries, label }: EntryPair, count: number): ComparedModel {
  const [{ report, model: before }, { report: other, model: after }] = entries;
  const reason = whyNot(...entries);
  const from = positive(before.end_to_end_ms);
  const to = positive(after.end_to_end_ms);
  const ratio = reason === undefined ? compareEstimates(before, after, count) : undefined;
  const measured = reason === undefined && from && to ? { ratio: to / from, low: null, high: null } : undefined;
  return {
    model: before.name,
    batch: report.settings.batch,
    threads_before: report.system.threads,
    threads_after: other.system.threads,
    before_ms: before.estimate_ms,
    after_ms: after.estimate_ms,
    ...bothRatios(ratio, measured),
    reason: reason ?? null,
    no_verdict: whyNoVerdict(entries, ratio),
    dimensions: describeSizes(before.dimensions),
    settings: describeSettings(report.system, report.settings),
    label,
  };
}

/** Models share bricks, so that their errors may be equal; the interval allows for that. */
function computeOverall(models: readonly ComparedModel[]): Ratio | undefined {
  const compared = models.filter(({ ratio }) => ratio !== null);
  const meanOf = (key: 'ratio' | 'ratio_low' | 'ratio_high'): number | null => {
    const known = compared.flatMap((model) => model[key] ?? []);
    return known.length < compared.length ? null : (geometricMean(known) ?? null);
  };
  const ratio = meanOf('ratio');
  return ratio === null ? undefined : { ratio, low: meanOf('ratio_low'), high: meanOf('ratio_high') };
}

/** Relative to the latency. */
function brickError({ summary }: Comparable, { occasions }: ComparableBrick): number | undefined {
  const { spread_percent: spread } = summary;
  return spread === null || occasions === 0 ? undefined : spread / 100 / Math.sqrt(occasions);
}

interface FoundBrick {
  readonly before: readonly [Comparable, ComparableBrick];
  readonly after: readonly [Comparable, ComparableBrick];
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly models: ComparedBrick['models'][number][];
}

function compareFound({ before, after, beforeMs, afterMs, models }: FoundBrick, count: number): ComparedBrick {
  const one = brickError(...before);
  const other = brickError(...after);
  const plain = afterMs / beforeMs;
  const factor =
    one === undefined || other === undefined ? undefined : Math.exp(intervalFactor(count) * Math.hypot(one, other));
  const ends = factor === undefined ? { low: null, high: null } : { low: plain / factor, high: plain * factor };
  const { signature, operators } = before[1];
  const brick = { signature, operators: [...operators], after_operators: null, models };
  return comparedBrick(brick, [beforeMs, afterMs], { ratio: plain, ...ends });
}

function comparedBricks(pairs: readonly EntryPair[]): Pick<Comparison, 'bricks' | 'unmatched'> {
  const found = new Map<string, FoundBrick>();
  const time = { before: { all: 0, alone: 0 }, after: { all: 0, alone: 0 } };
  for (const { entries, label } of pairs) {
    const [{ report, model }, { report: otherReport, model: otherModel }] = entries;
    // Where one side does not know its bricks, those of the other have no counterpart, whatever they are.
    if (model.bricks.length === 0 || otherModel.bricks.length === 0) continue;
    const others = new Map(otherModel.bricks.map((brick) => [brick.signature, brick]));
    const shared = new Set<string>();
    for (const brick of model.bricks) {
      const beforeMs = positive(brick.latency_ms);
      if (beforeMs === undefined) continue;
      const other = others.get(brick.signature);
      const afterMs = positive(other?.latency_ms ?? null);
      time.before.all += beforeMs * brick.sequences;
      if (other === undefined || afterMs === undefined) {
        time.before.alone += beforeMs * brick.sequences;
        continue;
      }
      shared.add(brick.signature);
      // A brick has other measurements in models of another footprint.
      const key = `${brick.signature} ${beforeMs} ${afterMs}`;
      const sides = { before: [report, brick], after: [otherReport, other] } as const;
      const one: FoundBrick = found.get(key) ?? { ...sides, beforeMs, afterMs, models: [] };
      const { sequences } = brick;
      one.models.push({ name: label, sequences, difference_ms: afterMs * other.sequences - beforeMs * sequences });
      found.set(key, one);
    }
    for (const { signature, latency_ms: ms, sequences } of otherModel.bricks) {
      time.after.all += (ms ?? 0) * sequences;
      if (!shared.has(signature)) time.after.alone += (ms ?? 0) * sequences;
    }
  }
  const shareOf = ({ all, alone }: typeof time.before): number | undefined => (all === 0 ? undefined : alone / all);
  return {
    bricks: [...found.values()].map((one) => compareFound(one, found.size)),
    unmatched: { before: shareOf(time.before), after: shareOf(time.after) },
  };
}

function whyNoBricks(reports: readonly Comparable[]): string | undefined {
  return reports.find(({ withoutBricks }) => withoutBricks !== undefined)?.withoutBricks;
}

function warningsOf(reports: readonly Comparable[]): readonly Warning[] {
  return distinctByContent(reports.flatMap(({ warnings = [] }) => warnings));
}

export function compareReports(before: readonly Comparable[], after: readonly Comparable[]): Comparison {
  const from = listEntries(before);
  const to = listEntries(after);
  const several = {
    threads: hasSeveral(from, 'threads') || hasSeveral(to, 'threads'),
    settings: hasSeveral(from, 'settings') || hasSeveral(to, 'settings'),
  };
  const byKey = keyEntries(from, several);
  const otherByKey = keyEntries(to, several);
  const labels = labelRows([...new Map([...byKey, ...otherByKey]).values()].map(({ paired }) => paired));
  const pairs = [...byKey].flatMap(([key, { entry }]): EntryPair[] => {
    const other = otherByKey.get(key);
    return other === undefined ? [] : [{ entries: [entry, other.entry], label: labels.get(key) ?? '' }];
  });
  const comparable = pairs.filter(({ entries }) => whyNot(...entries) === undefined);
  const models = pairs.map((pair) => comparedModel(pair, comparable.length));
  const rowsIn = (entries: typeof byKey, others: typeof byKey): LabelledRow[] => {
    const alone = [...entries].filter(([key]) => !others.has(key));
    return alone.map(([key, { entry }]) => ({ ...buildRow(entry), label: labels.get(key) ?? '' }));
  };
  return {
    aspects: findAspects(comparable),
    models,
    overall: computeOverall(models),
    ...comparedBricks(comparable),
    withoutBricks: { before: whyNoBricks(before), after: whyNoBricks(after) },
    warnings: { before: warningsOf(before), after: warningsOf(after) },
    unpaired: { before: rowsIn(byKey, otherByKey), after: rowsIn(otherByKey, byKey) },
  };
}
