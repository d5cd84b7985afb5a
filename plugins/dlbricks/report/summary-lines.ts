import { counted, formatMs, gigabytes, oneLine, UNKNOWN, usedCores } from '../../../src/plugin-api.js';
import { MAX_OCCASIONS } from '../measure/tasks.js';
import { partsInWords, describeCombination, describeCut, isAlike, describeRuntime } from './configuration.js';
import { type BestAsked, bestLines } from './best.js';
import type { ModelReport, Report } from './report-schema.js';
import { percent, relative } from './figures.js';

/** Intervals that go further to each side, relative to the estimate, get a warning. */
const WIDE_INTERVAL = 0.2;

const LIMITS = {
  whole_model: 'as narrow as whole models repeat (use a quieter machine)',
  occasions: `each brick was measured ${MAX_OCCASIONS} times, the most (use a quieter machine)`,
  time: 'time limit reached (raise --repeat-limit, repeat_limit in manifests)',
} as const;

function intervalLines({ models, settings }: Report): string[] {
  const known = models.filter(({ interval_hit: hit }) => hit !== null);
  if (known.length === 0) return [];
  const outside = known.filter(({ interval_hit: hit }) => hit === false).map(({ name }) => name);
  const claim =
    settings.cut === 'kernel'
      ? `intervals should contain ${percent(settings.confidence * 100, 0)} of measured latencies`
      : 'at the layer cut, intervals cover only the spread of runs in one process';
  return [outside.length === 0 ? claim : `${claim}; outside: ${outside.join(', ')}`];
}

/** How far an interval goes to each side, relative to the estimate; 0 where that is not known. */
function halfWidth({ estimate_ms: ms, estimate_high_ms: high, coverage }: ModelReport): number {
  if (ms === null || high === null || coverage < 1) return 0;
  const share = (high - ms) / ms;
  return Number.isFinite(share) ? share : 0;
}

export function isWide(model: ModelReport): boolean {
  return halfWidth(model) > WIDE_INTERVAL;
}

function wideIntervalLines({ models }: Report): string[] {
  const wide = models.filter(isWide);
  if (wide.length === 0) return [];
  const named = wide.map((model) => `${model.name} (± ${relative(halfWidth(model), 1)})`).join(', ');
  return [
    `warning: wide intervals: ${named}; smaller differences are not significant; measure again with 'dlbricks run --remeasure all' (remeasure: all in manifests) on a quieter machine`,
  ];
}

function limitLines({ models, settings: { target_error_percent: target } }: Report): string[] {
  return Object.entries(LIMITS).flatMap(([limit, why]) => {
    const limited = models.filter(({ limited_by: by }) => by === limit);
    if (limited.length === 0 || target === null) return [];
    const named = limited.map((model) => {
      const width = halfWidth(model);
      return width === 0 ? model.name : `${model.name} ± ${relative(width, 1)}`;
    });
    return [`${named.join(', ')} instead of ± ${target} %: ${why}`];
  });
}

function predictedLines({ models }: Report): string[] {
  const predicted = models.filter(({ predicted_percent: share }) => share > 0);
  if (predicted.length === 0) return [];
  const named = predicted.map(({ name, predicted_percent: share }) => `${name} (${percent(share)} of its time)`);
  return [
    `predicted from measured bricks of the same operators: ${named.join(', ')}; --measure largest measures those that narrow intervals most`,
  ];
}

function dimensionLines({ models, settings }: Report): string[] {
  const bound = models.filter(({ dimensions }) => dimensions.length > 0);
  if (bound.length === 0 || settings.cut === 'layer' || settings.keep_dynamic) return [];
  const named = bound.map(({ name, dimensions }) => {
    return `${name} (${dimensions.map((dimension) => `${dimension.name} ${dimension.size}`).join(', ')})`;
  });
  return [
    `open dimensions got sizes before the runtime optimized the graphs: ${named.join(', ')}; --keep-dynamic (keep_dynamic in manifests) leaves them open, which may give other kernels`,
  ];
}

function assumedLines({ models }: Report): string[] {
  const assuming = models.filter(({ assumed_inputs: assumed }) => assumed.length > 0);
  if (assuming.length === 0) return [];
  const named = assuming.map(({ name, assumed_inputs: assumed }) => {
    return `${name} (${assumed.map((input) => `${input.name} ${input.values}`).join(', ')})`;
  });
  return [`inputs got assumed values, where masks hide nothing: ${named.join(', ')}; --input NAME=VALUE gives others`];
}

function generationLines({ generations }: Report): string[] {
  return generations.map((generation) => {
    const { model, prompt, tokens, cache_lengths: lengths } = generation;
    const within = (value: number | null, high: number | null): string => {
      return `${formatMs(value)} ms ± ${value === null || high === null ? UNKNOWN : relative(high - value, value)}`;
    };
    const first = within(generation.first_token_ms, generation.first_token_high_ms);
    const further = within(generation.further_tokens_ms, generation.further_tokens_high_ms);
    const steps = counted(tokens - 1, 'further token');
    const rest = tokens === 1 ? '' : `, ${steps} in ${further}, from caches of ${lengths.join(', ')} tokens`;
    return `${model}: first token after ${counted(prompt, 'token')} of prompt in ${first}${rest}`;
  });
}

function extensionLines({ models }: Report): string[] {
  return models.flatMap(({ name, extended, not_extended: reason }) => {
    if (reason !== null) return [`${name}: its whole graph was optimized: ${reason}`];
    if (extended === null) return [];
    const { blocks, layers_of_block: layers, optimized_with: optimized } = extended;
    const [whole, most] = [extended.weight_bytes, extended.optimized_weight_bytes].map(gigabytes);
    const graphs = `graphs with ${optimized.join(' and ')} of its ${blocks} blocks of ${counted(layers, 'layer')}`;
    return [`${name}: extended from ${graphs}, with at most ${most} of ${whole} of weights`];
  });
}

/** What may make numbers far off is said above the table. */
const LEADING: ReadonlySet<string> = new Set(['values', 'loops', 'short_kernels']);

/** Those that say that the machine was not quiet; the others lead. */
export function warningLines(report: Report, among: readonly Report[]): string[] {
  // Too many threads are warned of before anything is measured.
  const ofMeasuring = report.warnings.filter(({ cause }) => cause !== 'threads' && !LEADING.has(cause));
  return ofMeasuring.map(({ message }) => nameConfiguration(`warning: ${message}`, report, among));
}

function formatSeconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

function measuredNowSeconds(costs: NonNullable<Report['summary']['costs']>): number {
  const { bricks_first_seconds, bricks_again_seconds, models_first_seconds, models_again_seconds } = costs;
  const all = bricks_first_seconds + bricks_again_seconds + models_first_seconds + models_again_seconds;
  return all - costs.known_seconds;
}

/** Less time than this is nothing: sums of floating-point numbers are not exact. */
const NOTHING_SECONDS = 1e-6;

function costLine(costs: NonNullable<Report['summary']['costs']>, isComplete: boolean): string {
  const { reading_seconds: reading, preparing_seconds: preparing, known_seconds: known } = costs;
  const before = `reading ${formatSeconds(reading)}, optimizing ${formatSeconds(preparing)}`;
  if (known > 0 && measuredNowSeconds(costs) < NOTHING_SECONDS) {
    const had = isComplete ? 'all measurements, which' : 'measurements that';
    return `nothing was measured: the store had ${had} took ${formatSeconds(known)} before; ${before}`;
  }
  const ofBricks = `each brick once ${formatSeconds(costs.bricks_first_seconds)}, repeated ${formatSeconds(costs.bricks_again_seconds)}`;
  const ofModels = `each model once ${formatSeconds(costs.models_first_seconds)}, repeated ${formatSeconds(costs.models_again_seconds)}`;
  const earlier = known > 0 ? `; ${formatSeconds(known)} of it measured before` : '';
  const measuredModels = costs.models_first_seconds > 0 ? `; ${ofModels}` : '';
  const delayed =
    costs.delay_seconds > 0
      ? `; waiting and measuring again because of other processes ${formatSeconds(costs.delay_seconds)}`
      : '';
  const checked = costs.check_seconds > 0 ? `; check ${formatSeconds(costs.check_seconds)}` : '';
  return `wall time: ${before}, ${ofBricks}${measuredModels}${delayed}${checked}${earlier}`;
}

function comparedCosts(costs: NonNullable<Report['summary']['costs']>, ratio: number): string {
  const { reading_seconds: reading, preparing_seconds: preparing } = costs;
  const bricks = formatSeconds(reading + preparing + costs.bricks_first_seconds);
  const wholes = formatSeconds(reading + costs.models_first_seconds);
  const verdict = ratio < 1 ? 'running the models was faster here' : `${ratio.toFixed(2)} times as long`;
  return `with everything, bricks took ${bricks} and whole models ${wholes}, each measured once: ${verdict}`;
}

function costLines({ summary: { costs, ratios }, models }: Report, { wide }: { readonly wide: boolean }): string[] {
  if (costs === null) return [];
  const isComplete = models.every(({ missing }) => missing.length === 0);
  const lines = [costLine(costs, isComplete)];
  if (ratios.measured !== null) lines.push(comparedCosts(costs, ratios.measured));
  const others: readonly [number | null, string][] = [
    [ratios.as_run, 'with every occasion'],
    [ratios.paper, "of one run of each (the paper's ratio)"],
  ];
  const told = others.flatMap(([value, name]) => (value === null ? [] : [`${value.toFixed(2)} ${name}`]));
  if (wide && told.length > 0) lines.push(`whole models over bricks: ${told.join(', ')}`);
  return lines;
}

function intervalScoreLines({ intervals, cross_checked_intervals: crossed }: Report['summary']): string[] {
  const shown = (scores: typeof intervals): string => {
    const levels = scores.map(({ level, models, hit_percent: hit, half_width_percent: half, score_percent: score }) => {
      const holding = Math.round((hit * models) / 100);
      return `${level * 100} %: ${holding} of ${models} hold, ± ${percent(half)}, score ${percent(score)}`;
    });
    return levels.join('; ');
  };
  if (intervals.length === 0) return [];
  const checked = `by the spreads of the other half of the models: ${shown(crossed)}`;
  return [`intervals at ${shown(intervals)}`, ...(crossed.length === 0 ? [] : [checked])];
}

function accuracyLines({ models, summary }: Report, { wide }: { readonly wide: boolean }): string[] {
  if (summary.geomean_normalized_latency === null) return [];
  const compared = models.filter(({ normalized_latency: value }) => value !== null).length;
  const errors = `mean error ${percent(summary.mape_percent)}, worst ${percent(summary.worst_percent)}`;
  const lines = [
    `${errors}; this machine repeats whole models within ${percent(summary.repeatability_percent)} on average`,
    ...intervalScoreLines(summary),
  ];
  if (!wide) return lines;
  return [
    ...lines,
    `normalized latency: geometric mean ${summary.geomean_normalized_latency.toFixed(3)}; within 5 %: ${summary.within_5_percent}, within 10 %: ${summary.within_10_percent} of ${counted(compared, 'model')}`,
  ];
}

function spreadLines({ summary, settings }: Report): string[] {
  if (summary.no_interval_reason !== null) return [`no intervals: ${summary.no_interval_reason}`];
  const { spread_percent: spread, common_spread_percent: common, whole_spread_percent: whole } = summary;
  const { target_error_percent: target } = settings;
  if (spread === null || target === null) return [];
  return [
    `bricks: ${percent(spread)} standard deviation between processes, ${percent(common)} of them common to all bricks of a process${whole === null ? '' : `; whole models: ${percent(whole)}`}; repeated until each interval is within ± ${percent(target)}`,
  ];
}

function machineLines({ summary, settings }: Report): string[] {
  const { machines, machine_spread_percent: spread } = summary;
  if (machines === null || spread === null) return [];
  const contained = settings.cut === 'kernel' ? ', which the intervals include' : '';
  return [`${machines} machines of this kind differ by ${percent(spread)} (standard deviation)${contained}`];
}

const LAYER_CUT =
  "The layer cut is the DLBricks paper's method: each layer runs alone, without the fusions that the runtime makes in the whole model, so that its estimates are expected to be too high.";

function systemLine({ system }: Report, configuration: string): string {
  return `${system.processor}, ${configuration}, ${system.framework} ${system.framework_version}`;
}

function describeBricks({ summary, settings, models }: Report): string {
  const layers = `${counted(summary.layers, 'layer')} in ${counted(summary.models, 'model')}`;
  const kernels = models.reduce((sum, model) => sum + (model.kernels ?? 0), 0);
  return partsInWords(layers, { ...summary, kernels }, [settings]);
}

/** How good the numbers are, which are no measurements, and why intervals are missing. */
function explainingLines(report: Report, options: { readonly wide: boolean }): readonly string[] {
  return [
    ...accuracyLines(report, options),
    ...intervalLines(report),
    ...(options.wide || report.summary.no_interval_reason !== null ? spreadLines(report) : []),
    ...machineLines(report),
    ...predictedLines(report),
  ];
}

function linesOfOne(report: Report, options: { readonly wide: boolean }): readonly string[] {
  const { system, settings } = report;
  const parts = [usedCores(system.threads, system.cores), `batch ${settings.batch}`, describeRuntime(report)];
  return [
    systemLine(report, parts.filter(Boolean).join(', ')),
    describeBricks(report),
    ...explainingLines(report, options),
    ...limitLines(report),
    ...assumedLines(report),
    ...dimensionLines(report),
    ...extensionLines(report),
    ...generationLines(report),
    ...costLines(report, options),
    ...warningLines(report, [report]),
  ];
}

function nameConfiguration(line: string, report: Report, among: readonly Report[]): string {
  return among.length === 1 ? line : line.replace('warning:', `warning: ${describeCombination(report, among)}:`);
}

function linesOfSeveral(reports: readonly Report[], options: { readonly wide: boolean }): readonly string[] {
  const [first] = reports;
  if (first === undefined) return [];
  const cut = isAlike(reports, describeCut) ? `, ${describeCut(first)}` : '';
  return [
    `${systemLine(first, counted(first.system.cores, 'core'))}${cut}`,
    ...new Set(
      reports.flatMap((report) => [...assumedLines(report), ...dimensionLines(report), ...extensionLines(report)]),
    ),
    ...reports.flatMap((report) => {
      const limits = options.wide ? limitLines(report) : [];
      const lines = [...explainingLines(report, options), ...limits, ...generationLines(report)];
      return [
        `${describeCombination(report, reports)}: ${describeBricks(report)}`,
        ...lines.map((line) => `  ${line}`),
        ...warningLines(report, reports),
      ];
    }),
  ];
}

/** Warnings that are said above the table. One that all reports have is said once. */
export function leadingLines(reports: readonly Report[]): readonly string[] {
  const leading = reports.map(({ warnings }) => warnings.filter(({ cause }) => LEADING.has(cause)));
  const isOfAll = (message: string): boolean => leading.every((some) => some.some((one) => one.message === message));
  const lines = reports.flatMap((report, index) => {
    return (leading[index] ?? []).map(({ message }) => {
      return isOfAll(message) ? `warning: ${message}` : nameConfiguration(`warning: ${message}`, report, reports);
    });
  });
  const wide = reports.flatMap((report) => {
    return wideIntervalLines(report).map((line) => nameConfiguration(line, report, reports));
  });
  return [...new Set([...lines, ...wide])].map(oneLine);
}

export function summaryLines(
  reports: readonly Report[],
  options: { readonly wide: boolean; readonly best?: BestAsked | undefined },
): readonly string[] {
  const [report] = reports;
  if (report === undefined) return [];
  const lines = reports.length === 1 ? linesOfOne(report, options) : linesOfSeveral(reports, options);
  const best = bestLines(reports, options.best);
  return [...best, ...lines, ...(reports.some(({ settings }) => settings.cut === 'layer') ? [LAYER_CUT] : [])].map(
    oneLine,
  );
}
