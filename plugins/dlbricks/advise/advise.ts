import {
  type Both,
  latencyOfOutcome,
  type LoadedModel,
  measurePaired,
  type MeasuringContext,
  type MeasureRequest,
  messageOf,
  pairedRatio,
  PlatformError,
  type RunOptions,
  buildRunOptions,
  DEFAULT_RUNTIME,
  storedPeaks,
  sumOf,
  trimmedMean,
  weightlessBenchmark,
  wholeBenchmark,
  isAbleTo,
  append,
  isOutermost,
} from '../../../src/plugin-api.js';
import type { MeasureSettings } from '../measure/tasks.js';
import {
  type Floors,
  computeFloors,
  possibleFusion,
  computeSaving,
  computeTotals,
  judgeClaim,
  savingBetween,
} from './advice.js';
import type { AdviceOfModel, Claim, Saving } from './advice-result.js';
import { measureVariants, type TimedVariant } from './measure-variants.js';
import { AS_TODAY, runKey, type Setting, settingsFor, type Variant, prepareVariants } from './variants.js';

interface AdviseSettings extends Omit<MeasureSettings, 'runOptions'> {
  readonly threads: number;
  readonly rounds: number;
  readonly verify: boolean;
}

const PARALLEL: Setting = {
  name: '--execution-mode parallel',
  runtime: { ...DEFAULT_RUNTIME, execution_mode: 'parallel' },
};

const WORTH_TRYING = 1.05;

const MAX_LINES = 5;

export interface Advice {
  readonly model: AdviceOfModel;
  readonly floors: Pick<Floors, 'kernels' | 'edges'>;
}

type BetweenKernels = Pick<AdviceOfModel, 'between_kernels_ms' | 'between_kernels_us_each'>;

const NOT_KNOWN: BetweenKernels = { between_kernels_ms: null, between_kernels_us_each: null };

async function wholeRounds(
  loaded: LoadedModel,
  options: Both<RunOptions>,
  { protocol, limits, rounds }: AdviseSettings,
  { agent, signal, onEvent }: MeasuringContext,
  label: string,
): Promise<Both<readonly number[]>> {
  const benchmark = await wholeBenchmark(loaded, agent);
  const common = { benchmark, name: loaded.name, protocol, limits, occasion: 1 };
  const first: MeasureRequest = { ...common, runOptions: options[0] };
  const second: MeasureRequest = { ...common, runOptions: options[1] };
  const times: [number[], number[]] = [[], []];
  const pair = { label, requests: [[first], [second]] } as const;
  for await (const results of measurePaired([agent, agent], [pair], { rounds, signal, onEvent })) {
    const outcomes = [results[0].get(first)?.outcome, results[1].get(second)?.outcome];
    const [one, other] = outcomes.map(latencyOfOutcome);
    const failed = outcomes.find((outcome) => outcome?.kind === 'failure');
    if (failed?.kind === 'failure') throw new PlatformError('model', `${loaded.name}: ${label}: ${failed.message}`);
    if (one == null || other == null) continue;
    times[0].push(one);
    times[1].push(other);
  }
  return times;
}

/** By the runtime's profile. */
async function measureBetweenKernels(
  loaded: LoadedModel,
  runOptions: RunOptions,
  { protocol, limits }: AdviseSettings,
  { agent, signal }: MeasuringContext,
): Promise<BetweenKernels> {
  const request = { benchmark: weightlessBenchmark(loaded.model), runOptions, protocol, limits };
  const { kernels, tracedMs } = await agent.trace(request, 'APPLICATION_TRACE', { signal });
  const outermost = kernels.filter(isOutermost);
  if (outermost.length === 0) return NOT_KNOWN;
  const betweenMs = trimmedMean(tracedMs) - sumOf(outermost.map(({ runMs }) => trimmedMean(runMs)));
  return { between_kernels_ms: betweenMs, between_kernels_us_each: (1000 * betweenMs) / outermost.length };
}

export async function adviseOn(
  loaded: LoadedModel,
  settings: AdviseSettings,
  context: MeasuringContext,
): Promise<Advice> {
  const { agent, signal, store, onEvent } = context;
  const { threads, rounds } = settings;
  if (!isAbleTo(agent.description, 'measure_bricks')) {
    const { framework } = agent.description;
    throw new PlatformError(
      'unsupported',
      `${framework} keeps no profile, which times kernels; use --framework onnxruntime`,
    );
  }
  onEvent({ kind: 'note', level: 'info', message: `${loaded.name}: optimizing it with each setting` });
  const found = await prepareVariants(loaded, settingsFor(threads), threads, agent, signal);
  const today = found.variants[0];
  if (today === undefined || today.graph.layers.length !== today.prepared.recipe.sequences.length) {
    throw new PlatformError(
      'unsupported',
      `${loaded.name}: its kernels pass values that are no tensors, and cannot be told apart`,
    );
  }
  // A setting of the optimizer that changes no kernel changes no time.
  const worth = found.variants.filter(
    ({ isSameGraph, setting }) => !isSameGraph || Object.keys(setting.runtime.session).length > 0,
  );
  const { variants, unmeasured } = await measureVariants(worth, rounds, settings, context);
  const base = variants[0];
  if (base === undefined || base.setting !== AS_TODAY || base.rounds.length === 0) {
    const reason = unmeasured[0]?.reason ?? (signal.aborted ? 'interrupted' : 'not measured');
    throw new PlatformError(
      signal.aborted ? 'cancelled' : 'model',
      `${loaded.name}: its kernels have no times: ${reason}`,
    );
  }
  const savings = variants.slice(1).map((variant) => ({ variant, saving: savingBetween(base, variant) }));
  // Only these are in the composites of today's kernels; the least of others would be the luckiest process.
  const together = variants.filter(({ setting }) => Object.keys(setting.runtime.session).length === 0);
  const { kernels, edges, units, ...floors } = computeFloors(found.source, together);
  const isWorth = threads > 1 && floors.parallelism > WORTH_TRYING;
  const notParallel = threads === 1 ? 'there is one thread' : 'its kernels depend on each other';
  const parallel = { ...PARALLEL, runtime: { ...PARALLEL.runtime, inter_op_threads: threads } };
  const claims: Claim[] = [];
  const addClaim = (setting: string, by: Claim['measured_by'], saving: Saving, verified: Saving | null): void => {
    claims.push({ setting, measured_by: by, ...saving, verified, outcome: judgeClaim(saving, verified) });
  };
  for (const { variant, saving } of savings) {
    const isFirst = variants.find((other) => runKey(other) === runKey(variant)) === variant;
    if (saving?.seen === true && isFirst) addClaim(variant.setting.name, 'bricks', saving, null);
  }
  const wholes: number[] = [];
  if (isWorth) {
    const options = buildRunOptions(1, agent.description, parallel.runtime);
    const sides = await wholeRounds(
      loaded,
      [base.runOptions, options],
      settings,
      context,
      `${loaded.name}, in parallel`,
    );
    append(wholes, sides[0]);
    const saving = computeSaving(...sides);
    const setting = `${PARALLEL.name} --inter-op-threads ${threads} --threads 1`;
    if (saving?.seen === true) addClaim(setting, 'whole model', saving, saving);
  }
  // With one thread, both sides are the same, and one round is enough for the time of the whole model.
  const one = buildRunOptions(1, agent.description);
  const sides = await wholeRounds(
    loaded,
    [base.runOptions, one],
    threads > 1 ? settings : { ...settings, rounds: 1 },
    context,
    threads > 1 ? `${loaded.name}, with one thread` : `${loaded.name}, whole`,
  );
  append(wholes, [...sides[0], ...(threads > 1 ? [] : sides[1])]);
  if (wholes.length === 0) {
    const problem = `${loaded.name}: interrupted before the whole model was measured`;
    throw new PlatformError('cancelled', `${problem}; its kernels are kept, and the same command continues from here`);
  }
  const scaling = threads > 1 ? pairedRatio(sides[0].map((ms, at) => [ms, sides[1][at] ?? NaN] as const)) : undefined;
  const advice = claims.toSorted((a, b) => b.saving_ms - a.saving_ms).slice(0, MAX_LINES);
  for (const [at, claimed] of advice.entries()) {
    const variant = variants.find(({ setting }) => setting.name === claimed.setting);
    if (!settings.verify || variant === undefined || signal.aborted) continue;
    const label = `${loaded.name}, ${claimed.setting}`;
    const both = await wholeRounds(loaded, [base.runOptions, variant.runOptions], settings, context, label);
    const verified = computeSaving(...both);
    advice[at] = { ...claimed, verified, outcome: judgeClaim(claimed, verified) };
  }
  const peaks = await storedPeaks(store, agent.description, base.runOptions);
  const [ofBasic, ofExtended] = ['basic', 'extended'].map((level): TimedVariant | undefined => {
    const isNamed = ({ setting }: Variant): boolean => setting.name === `--optimization-level ${level}`;
    return found.variants.find(isNamed)?.isSameGraph === true ? base : variants.find(isNamed);
  });
  const measuredMs = sumOf(wholes) / wholes.length;
  const between = await measureBetweenKernels(loaded, base.runOptions, settings, context).catch((error: unknown) => {
    const message = `${loaded.name}: what is between its kernels is not known: ${messageOf(error)}`;
    onEvent({ kind: 'note', level: 'warning', message });
    return NOT_KNOWN;
  });
  const model: AdviceOfModel = {
    name: loaded.name,
    threads,
    measured_ms: measuredMs,
    kernels_ms: sumOf(computeTotals(base)) / base.rounds.length,
    variants: found.variants.map(({ setting, isSameGraph }) => {
      const timed = variants.find((variant) => variant.setting === setting) ?? base;
      const saving = savings.find(({ variant }) => variant.setting === setting)?.saving ?? null;
      const ms = sumOf(computeTotals(timed)) / timed.rounds.length;
      return { setting: setting.name, kernels_ms: ms, same_graph: isSameGraph, saving };
    }),
    not_tried: [
      ...found.refused.map(({ setting, reason }) => ({ setting: setting.name, reason })),
      ...unmeasured.map(({ variant, reason }) => ({ setting: variant.setting.name, reason })),
      ...(isWorth ? [] : [{ setting: PARALLEL.name, reason: notParallel }]),
      { setting: 'reduced precision', reason: 'it needs other weights; quantize the model, and advise on the result' },
    ],
    ...floors,
    longest_path: kernels
      .filter(({ isOnLongestPath }) => isOnLongestPath)
      .map(({ name, operator, ms }) => ({ kernel: name, operator, ms })),
    ratio: floors.floor_ms / measuredMs,
    parallel_ratio: floors.parallel_floor_ms / measuredMs,
    scaling: scaling ? { ratio: scaling.ratio, low: scaling.low ?? null, high: scaling.high ?? null } : null,
    call_ms: peaks.get('call')?.value ?? null,
    ...between,
    fusion: {
      taken: ofBasic && ofExtended ? savingBetween(ofBasic, ofExtended) : null,
      blocked_layout: ofExtended === undefined || ofExtended === base ? null : savingBetween(ofExtended, base),
      kernels_fewer: ofBasic && ofExtended ? ofBasic.graph.layers.length - ofExtended.graph.layers.length : 0,
      ...possibleFusion(base, peaks),
    },
    units,
    advice,
  };
  return { model, floors: { kernels, edges } };
}
