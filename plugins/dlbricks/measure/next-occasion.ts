import { operatorsLabel } from '../bricks/brick.js';
import { computeContext } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { compose, type Estimate, type BrickShare } from '../estimate/compose.js';
import { computeError, type Factors, computeFactors } from '../estimate/interval.js';
import type { Observations } from '../estimate/brick-latency.js';
import { type KnownOfSystem, spreadsFor, spreadsOfSystem } from '../estimate/spreads-of-system.js';
import { computeHalfWidth, computeMargin } from '../estimate/statistics.js';
import type { VarianceComponents } from '../estimate/variance-components.js';
import { isColdFootprint, type System, type Task, append } from '../../../src/plugin-api.js';
import { bricksOfModel, FIRST_OCCASION, type MeasureSettings, MAX_OCCASIONS, brickTasks } from './tasks.js';

export interface Precision {
  /** Bricks are measured on further occasions until half the width of a model's interval is within this, relative: 0.05 is 5 %. */
  readonly targetError: number;
  /** Limit of the wall time of further occasions, as a multiple of the wall time of the first ones. */
  readonly repeatLimit: number;
  /** Wall time that further occasions may always take, unless the limit is 0; ms. */
  readonly leastRepeatMs: number;
}

export type LimitedBy = 'target_error' | 'occasions' | 'whole_model' | 'time';

/** At least this share of each model's time is measured twice, so that the spread between occasions is known. */
const SHARE_MEASURED_TWICE = 0.5;

function costOf({ costMs, tried }: BrickShare): number {
  return costMs / tried;
}

function computeTime({ ms, count }: BrickShare): number {
  return (ms ?? 0) * count;
}

function allowanceMs(estimates: readonly Estimate[], { repeatLimit, leastRepeatMs }: Precision): number {
  let onceMs = 0;
  let usedMs = 0;
  const all = estimates.flatMap(({ parts }) => parts);
  for (const part of new Map(all.map((one) => [one.benchmark, one])).values()) {
    if (part.occasions === 0) continue;
    onceMs += costOf(part);
    usedMs += costOf(part) * (part.tried - 1);
  }
  return (repeatLimit === 0 ? 0 : Math.max(onceMs * repeatLimit, leastRepeatMs)) - usedMs;
}

/** Further occasions are of no use to a model whose interval is within this of its least width. */
const NEAR_LEAST = 1.1;

const NEXT = 'next';

/** Half the width of a model's interval that further occasions are for. */
export function computeAim({ leastError = 0 }: Estimate, { targetError }: Precision): number {
  return Math.max(targetError, leastError * NEAR_LEAST);
}

/** A model's interval once the chosen bricks are measured on another occasion; updated as bricks are chosen. */
class Outlook {
  readonly parts: ReadonlyMap<string, BrickShare>;
  private total = 0;
  /** Time that is measured more than once. */
  private twice = 0;
  private factors: Factors;
  private readonly ofProcess = new Map<string, number>();
  private readonly now: number;

  constructor(
    private readonly estimate: Estimate,
    private readonly components: VarianceComponents | undefined,
  ) {
    const measured = estimate.parts.filter(({ occasions }) => occasions > 0);
    this.parts = new Map(measured.map((part) => [part.benchmark, part]));
    for (const part of measured) {
      const time = computeTime(part);
      this.total += time;
      if (part.occasions > 1) this.twice += time;
      for (const process of part.processes) this.add(process, time / part.occasions);
    }
    this.factors = computeFactors(measured.map((part) => [computeTime(part), part.processes]));
    this.now = this.widthBy(this.factors);
  }

  private add(process: string, ms: number): void {
    this.ofProcess.set(process, (this.ofProcess.get(process) ?? 0) + ms);
  }

  /** The half width as far as the choice of bricks changes it, relative. */
  private widthBy(factors: Factors): number {
    const { components, total } = this;
    const { leastError } = this.estimate;
    if (components === undefined || leastError === undefined || total === 0) return 0;
    return Math.hypot(computeMargin([computeError(factors, components)]) / total, leastError);
  }

  /** How much time of each process a further occasion of a brick adds. */
  private *shifts(part: BrickShare): Generator<readonly [process: string, ms: number]> {
    const [before, after] = [1, 2].map((more) => computeTime(part) / (part.occasions + more - 1)) as [number, number];
    for (const process of part.processes) yield [process, after - before];
    yield [NEXT, after];
  }

  private factorsWith(parts: readonly BrickShare[]): Factors {
    const changes = new Map<string, number>();
    let { common, own } = this.factors;
    for (const part of parts) {
      for (const [process, ms] of this.shifts(part)) changes.set(process, (changes.get(process) ?? 0) + ms);
      own += computeTime(part) ** 2 * (1 / (part.occasions + 1) - 1 / part.occasions);
    }
    for (const [process, ms] of changes) {
      const before = this.ofProcess.get(process) ?? 0;
      common += (before + ms) ** 2 - before ** 2;
    }
    return { common, own };
  }

  choose(part: BrickShare): void {
    this.factors = this.factorsWith([part]);
    for (const [process, ms] of this.shifts(part)) this.add(process, ms);
    if (part.occasions === 1) this.twice += computeTime(part);
  }

  private get needsSpread(): boolean {
    return this.total > 0 && this.twice / this.total < SHARE_MEASURED_TWICE;
  }

  suffices(precision: Precision): boolean {
    if (this.needsSpread) return false;
    const halfWidth = computeHalfWidth(this.estimate.sequential);
    if (halfWidth === undefined || this.now === 0) return true;
    return (halfWidth * this.widthBy(this.factors)) / this.now <= computeAim(this.estimate, precision);
  }

  /** How much a further occasion of some bricks narrows the interval; before that, their share of the time. */
  gain(parts: readonly BrickShare[]): number {
    const once = this.needsSpread ? parts.filter(({ occasions }) => occasions === 1) : [];
    const share = once.reduce((sum, part) => sum + computeTime(part), 0) / this.total;
    return share + this.widthBy(this.factors) - this.widthBy(this.factorsWith(parts));
  }
}

/** Bricks that are measured on another occasion together, or not at all, and the models that have them. */
interface Candidate {
  readonly parts: readonly BrickShare[];
  readonly models: readonly Outlook[];
}

function costOfAll(parts: Iterable<BrickShare>): number {
  return [...parts].reduce((sum, part) => sum + costOf(part), 0);
}

/** Each brick, or all bricks of a model that has composites of its own, if there is time for all of them. */
function listCandidates(
  outlooks: readonly (readonly [outlook: Outlook, isApart: boolean])[],
  allowance: number,
): readonly Candidate[] {
  const candidates = new Map<string, Candidate>();
  for (const [outlook, isApart] of outlooks) {
    const repeatable = [...outlook.parts.values()].filter(({ tried }) => tried < MAX_OCCASIONS);
    const isTogether = isApart && costOfAll(repeatable) <= allowance;
    for (const parts of isTogether ? [repeatable] : repeatable.map((part) => [part])) {
      const key = parts.map(({ benchmark }) => benchmark).join(' ');
      candidates.set(key, { parts, models: [...(candidates.get(key)?.models ?? []), outlook] });
    }
  }
  return [...candidates.values()];
}

/** The bricks whose further occasion narrows intervals most for its time, until all models are precise enough. */
function chooseCandidates(
  outlooks: readonly Outlook[],
  candidates: readonly Candidate[],
  allowance: number,
  precision: Precision,
): ReadonlySet<string> {
  const chosen = new Set<string>();
  const stillLeft = ({ parts }: Candidate) => parts.filter(({ benchmark }) => !chosen.has(benchmark));
  const partsIn = ({ parts }: Outlook, of: readonly BrickShare[]): readonly BrickShare[] => {
    return of.flatMap(({ benchmark }) => parts.get(benchmark) ?? []);
  };
  /** The gain for its cost; 0 for a candidate that is of no use. */
  const rate = (candidate: Candidate): { readonly worth: number; readonly costMs: number } => {
    const left = stillLeft(candidate);
    const costMs = costOfAll(left);
    const gains = candidate.models.map((model) => (model.suffices(precision) ? 0 : model.gain(partsIn(model, left))));
    return { worth: left.length === 0 ? 0 : gains.reduce((sum, gain) => sum + gain, 0) / costMs, costMs };
  };
  const left = new Map(candidates.map((candidate) => [candidate, rate(candidate)]));
  for (let leftMs = allowance; ;) {
    let best: readonly [Candidate, { readonly worth: number; readonly costMs: number }] | undefined;
    for (const entry of left) {
      const [candidate, { worth, costMs }] = entry;
      if (costMs > leftMs) left.delete(candidate);
      else if (worth > (best?.[1].worth ?? 0)) best = entry;
    }
    if (best === undefined) return chosen;
    const [candidate, { costMs }] = best;
    const parts = stillLeft(candidate);
    leftMs -= costMs;
    const changed = new Set<Outlook>();
    for (const model of outlooks) {
      for (const part of partsIn(model, parts)) {
        model.choose(part);
        changed.add(model);
      }
    }
    for (const { benchmark } of parts) chosen.add(benchmark);
    for (const candidate of left.keys()) {
      if (candidate.models.some((model) => changed.has(model))) left.set(candidate, rate(candidate));
    }
  }
}

/** Empty when all models are precise enough or the limits are reached. @param known beside these models' bricks */
export function tasksOfNextOccasion(
  models: readonly PreparedModel[],
  observations: Observations,
  system: System,
  settings: MeasureSettings,
  precision: Precision,
  known?: KnownOfSystem,
): readonly Task[] {
  const recipes = models.map(({ recipe }) => ({ recipe, context: computeContext(recipe, system) }));
  const ofSystem = spreadsOfSystem(recipes, observations, known);
  const estimates = recipes.map((recipe, index) => {
    return compose(recipe, observations, spreadsFor(ofSystem, models[index]?.whole.signature));
  });
  const allowance = allowanceMs(estimates, precision);
  const outlooks = estimates.map((estimate) => new Outlook(estimate, ofSystem.bricks));
  const apart = outlooks.map((outlook, index) => {
    const context = recipes[index]?.context;
    // Some of the bricks alone would find warmer caches than all of them, since less time passes between two runs.
    return [outlook, context !== undefined && !isColdFootprint(context.footprintBytes, system.cacheBytes)] as const;
  });
  const chosen = new Set(chooseCandidates(outlooks, listCandidates(apart, allowance), allowance, precision));
  const tasks: Task[] = [];
  for (const [index, model] of models.entries()) {
    const bricks = bricksOfModel(model, system);
    // In the model's order, so that neighbours are measured together.
    for (const [at, part] of (estimates[index]?.parts ?? []).entries()) {
      const brick = bricks[at];
      if (brick === undefined || !chosen.delete(part.benchmark)) continue;
      const label = `${model.recipe.name}: ${operatorsLabel(brick.brick.operators)} (again)`;
      append(tasks, brickTasks(label, brick, FIRST_OCCASION + part.tried, settings));
    }
  }
  return tasks.toSorted((a, b) => a.request.occasion - b.request.occasion);
}

export function findLimit(estimate: Estimate, precision: Precision): LimitedBy | undefined {
  const halfWidth = computeHalfWidth(estimate.sequential);
  if (halfWidth === undefined || estimate.leastError === undefined) return undefined;
  if (halfWidth <= precision.targetError) return 'target_error';
  if (halfWidth <= computeAim(estimate, precision)) return 'whole_model';
  return estimate.parts.every(({ occasions, tried }) => occasions === 0 || tried >= MAX_OCCASIONS)
    ? 'occasions'
    : 'time';
}
