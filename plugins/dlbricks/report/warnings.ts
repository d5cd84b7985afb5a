import {
  counted,
  formatMs,
  listed,
  inPercent,
  type LayerGraph,
  type Measurement,
  measurementWarnings,
  type NoiseWarning,
  optimizerText,
  optimizingRun,
} from '../../../src/plugin-api.js';
import type { Estimate } from '../estimate/compose.js';
import type { MadeUpPart, ModelRecipe } from '../bricks/recipe.js';
import type { WeightsOfRun } from '../bricks/values-of-run.js';
import { kernelWarning } from '../bricks/own-graph.js';
import type { Cut } from '../cut/cut.js';
import { findMadeUpValues } from '../cut/made-up-values.js';
import { PROFILE_ERROR } from '../estimate/interval.js';
import { spreadOfBrick } from '../estimate/variance-components.js';
import { percent } from './figures.js';
import type { EstimateResult } from './evaluation-result.js';
import type { Report } from './report-schema.js';

const REMEDY =
  '--values-of-run (`values: run` in manifests) takes sizes and values from one run of the file with its own weights, and --input NAME=VALUE gives an input its real values';

const NO_WEIGHTS =
  'the values of the run are made up too, because no file on this machine has the weights; use a model that is a file';

const NOT_KEPT =
  'the run did not give these values: they follow from an input, which --input NAME=VALUE gives its real values, are made inside of a loop or a branch, or are too many; or measure the whole model (validate)';

function describeProblem({ operators, kernels }: Pick<MadeUpPart, 'operators' | 'kernels'>, of = 'estimate'): string {
  const readers = operators.reduce((sum, { count }) => sum + count, 0);
  const list = listed(operators.map(({ operator, count }) => (count === 1 ? operator : `${count} ${operator}`)));
  const after = kernels === readers ? '' : `, and the sizes in ${counted(kernels - readers, 'further node')}`;
  return `the ${of} may be far off: made-up values decide the work of ${list}${after}`;
}

function madeUpWarning(
  { name, madeUpValues, coverage }: Pick<Estimate, 'name' | 'madeUpValues' | 'coverage'>,
  runWith: WeightsOfRun | undefined,
): string | undefined {
  if (madeUpValues === undefined) return undefined;
  const remedy = runWith === undefined ? REMEDY : runWith === 'own' ? NOT_KEPT : NO_WEIGHTS;
  const rest = `${percent(coverage * 100)} of the sequences are measured and do not depend on them`;
  return `${name}: ${describeProblem(madeUpValues)}; ${rest}; ${remedy}`;
}

/** The same for a suite, which never has values of a run. */
export function madeUpInSuite({ name, made_up_values: madeUpValues }: ModelRecipe): string | undefined {
  if (madeUpValues === undefined) return undefined;
  return `${name}: ${describeProblem(madeUpValues)}; a suite has no values of a run, which would say something about the weights`;
}

/** The same for a table of layers, which nothing measures. */
export function madeUpInLayers(name: string, graph: LayerGraph): string | undefined {
  const found = findMadeUpValues(graph);
  if (found === undefined) return undefined;
  const problem = describeProblem({ operators: found.operators, kernels: found.layers.size }, 'numbers of layers');
  return `${name}: ${problem}; --input NAME=VALUE gives an input its real values`;
}

/** A larger spread between occasions gives a warning. */
const MAX_SPREAD = 0.05;

export interface NoiseFacts {
  readonly measurements: readonly Measurement[];
  /** Standard deviation between occasions, relative; undefined where it is not known. */
  readonly spread: number | undefined;
  readonly threads: number;
  readonly cores: number;
  readonly canRemeasure: boolean;
}

export function noiseWarnings({ measurements, spread, canRemeasure, ...machine }: NoiseFacts): readonly NoiseWarning[] {
  const warnings = measurementWarnings(measurements, { ...machine, canRemeasure });
  if (spread === undefined || spread <= MAX_SPREAD) return warnings;
  const cause = warnings.length === 0 ? 'for an unknown reason' : 'see the other warnings';
  const message = `one brick varies by ${inPercent(spread)} from process to process, ${cause}; measure again ${canRemeasure ? 'with --remeasure all (remeasure: all in manifests) ' : ''}on a quieter machine`;
  return [...warnings, { cause: 'spread', message }];
}

/** Whether kernels run at the same time, so that their sum is not the latency. */
function isOverlapping({ system: { runOptions } }: EstimateResult): boolean {
  return runOptions.executionMode === 'parallel' && (runOptions.interOpThreads ?? 1) > 1;
}

/** The result without intervals where kernels run at the same time: nothing says how much they slow each other down. */
export function withoutUnknownIntervals(result: EstimateResult): EstimateResult {
  if (!isOverlapping(result)) return result;
  const models = result.models.map(({ estimate, ...model }) => {
    const { sequential } = estimate;
    const sum = sequential && { ms: sequential.ms, lowMs: undefined, highMs: undefined };
    return { ...model, crossChecked: [], estimate: { ...estimate, sequential: sum, margins: [] } };
  });
  return { ...result, models };
}

function settingsWarnings(result: EstimateResult): Report['warnings'] {
  const { unchanged = [], system } = result;
  const { optimizationLevel, session = [] } = optimizingRun(system.runOptions);
  const warnings: string[] = [];
  if (unchanged.length > 0) {
    const settings = [optimizerText(optimizationLevel), ...session].join(', ');
    warnings.push(`${settings}: the optimizer makes the same kernels as by default of ${unchanged.join(', ')}`);
  }
  if (isOverlapping(result)) {
    warnings.push(
      'kernels run at the same time: an estimate is their sum, and has no interval; the latency may be as low as parallel_ms',
    );
  }
  return warnings.map((message) => ({ cause: 'settings' as const, message }));
}

/** Operators that run a graph of their own many times. */
const LOOPS: ReadonlySet<string> = new Set(['Loop', 'Scan']);

/** Warnings for models with loops at the layer cut, where a loop runs without what the runtime does in the whole model. */
function loopsAlone({ models }: EstimateResult, cut: Cut): Report['warnings'] {
  if (cut !== 'layer') return [];
  return models.flatMap(({ estimate: { name, placed } }) => {
    const loops = placed.flatMap(({ operators }) => operators).filter((operator) => LOOPS.has(operator));
    if (loops.length === 0) return [];
    const message = `${name}: has ${[...new Set(loops)].join(' and ')}, which the layer cut estimates up to three times too high; use --cut kernel`;
    return [{ cause: 'loops' as const, message }];
  });
}

/** Twice its standard error: from this share of an estimate on, the cost of the profile is warned of. */
const NOTEWORTHY_PROFILE_ERROR = 0.1;

function shortKernels({ models }: EstimateResult): Report['warnings'] {
  return models.flatMap(({ estimate: { name, sequential, profileMs = 0 } }) => {
    const share = (2 * PROFILE_ERROR * profileMs) / Math.max(sequential?.ms ?? Infinity, Number.MIN_VALUE);
    if (share <= NOTEWORTHY_PROFILE_ERROR) return [];
    const error = `the estimate may be off by ${percent(100 * share)} for this alone`;
    const message = `${name}: its kernels are short: the runtime's profile adds ${formatMs(profileMs)} ms to them, which is known to a half, so that ${error}; measure the whole model (validate, or mlmodelscope latency)`;
    return [{ cause: 'short_kernels' as const, message }];
  });
}

/** The measurements of each whole model, one or two. A model that is listed twice was measured once. */
function listWholeMeasurements({ models }: EstimateResult): readonly Measurement[] {
  const wholes = [...new Map(models.map(({ endToEnd }) => [endToEnd?.signature, endToEnd])).values()];
  return wholes.flatMap((endToEnd) => [endToEnd?.first, endToEnd?.repeat].filter((taken) => taken !== undefined));
}

/** What may make the numbers of a result far off, and what made its measurements noisy. */
export function listWarnings(result: EstimateResult, cut: Cut, canRemeasure: boolean): Report['warnings'] {
  const { system, spreads, bricks, models } = result;
  const warnIf = (cause: 'values' | 'kernels', message: string | undefined): Report['warnings'] => {
    return message === undefined ? [] : [{ cause, message }];
  };
  return [
    ...models.flatMap(({ estimate, runWith }) => warnIf('values', madeUpWarning(estimate, runWith))),
    ...loopsAlone(result, cut),
    ...shortKernels(result),
    ...models.flatMap(({ estimate, kernelCheck }) => warnIf('kernels', kernelWarning(estimate.name, kernelCheck))),
    ...settingsWarnings(result),
    ...noiseWarnings({
      measurements: [...bricks, ...listWholeMeasurements(result)],
      spread: spreads.bricks && spreadOfBrick(spreads.bricks),
      threads: system.runOptions.threads,
      cores: system.cores,
      canRemeasure,
    }),
  ];
}
