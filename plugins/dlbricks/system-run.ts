import type { CutSettings } from './bricks/decompose.js';
import type { PreparedModel } from './bricks/prepare-model.js';
import type { Measure } from './measure/largest.js';
import type { Precision } from './measure/next-occasion.js';
import {
  DEFAULT_REMEASURE,
  KnownResults,
  Measuring,
  type LoadedModel,
  type ManifestIdentity,
  type MeasuringContext,
  type UnusableModel,
  type MeasuringPlan,
  planMeasuring,
  type Protocol,
  type Remeasure,
  RunProgress,
  type System,
  type Task,
  taskKey,
} from '../../src/plugin-api.js';
import type { Earlier } from './estimate/spreads-of-system.js';
import { earlierRuns } from './measure/earlier-runs.js';
import type { MeasuringCost } from './report/evaluation-result.js';
import { FIRST_OCCASION, type MeasureSettings } from './measure/tasks.js';
import type { Settings } from './settings.js';

export interface EstimateRequest extends CutSettings, MeasureSettings {
  readonly evaluation?: string | undefined;
  readonly identities?: readonly ManifestIdentity[] | undefined;
  /** As they were given; the other fields are what they mean for this agent. */
  readonly settings: Settings;
  readonly batch: number;
  readonly models: readonly LoadedModel[];
  readonly unusable?: readonly UnusableModel[] | undefined;
  /** Wall time that reading the models took, and what came before; ms. */
  readonly readingMs: number;
  /** Whether to measure each whole model as well: after each brick's first measurement, and again at the end. */
  readonly measureEndToEnd: boolean;
  readonly check?: boolean | undefined;
  /** The bricks to measure that the store lacks; default: all. The others are predicted; kernel cut only. */
  readonly measure?: Measure | undefined;
  /** Precision that bricks at the kernel cut need. */
  readonly precision: Precision;
  /** The stored measurements to take again; by default disturbed ones, while the machine is quiet. */
  readonly remeasure?: Remeasure | undefined;
  readonly traceUrlTemplate?: string | undefined;
}

type Remeasuring = Pick<EstimateRequest, 'remeasure'>;

export interface Prepared {
  readonly models: readonly PreparedModel[];
  readonly unchanged: readonly string[];
  /** Wall time, shared with the requests that were prepared at the same time. */
  readonly preparingMs: number;
}

export interface Plan extends Prepared {
  readonly request: EstimateRequest;
  readonly run: SystemRun;
  readonly bricks: MeasuringPlan;
  readonly wholes: MeasuringPlan;
  readonly again: MeasuringPlan;
}

export class SystemRun {
  readonly results = new KnownResults();
  readonly #measuring: Measuring;
  readonly #planned = new Set<string>();
  #measured = 0;
  #earlier: { readonly measured: number; readonly found: Earlier } | undefined;

  constructor(
    private readonly context: MeasuringContext,
    private readonly progress: RunProgress,
    readonly system: System,
  ) {
    this.#measuring = new Measuring(context, system, this.results, progress);
  }

  get measured(): number {
    return this.#measured;
  }

  /** See {@link Measuring.delayMs}. */
  get delayMs(): number {
    return this.#measuring.delayMs;
  }

  /** See {@link earlierRuns}; read again where this run has measured since. @param protocol of this run */
  async earlierRuns(protocol: Protocol): Promise<Earlier> {
    const measured = this.#measured;
    if (this.#earlier?.measured !== measured) {
      this.#earlier = { measured, found: await earlierRuns(this.context.store, this.system, protocol) };
    }
    return this.#earlier.found;
  }

  /** Looks up the measurements of some tasks in the store. Tasks of an earlier phase are not missing in this one. */
  async plan(tasks: readonly Task[], { remeasure = DEFAULT_REMEASURE }: Remeasuring): Promise<MeasuringPlan> {
    const { system } = this;
    const plan = await planMeasuring(tasks, this.results, { system, store: this.context.store, remeasure });
    const isNew = ({ request }: Task): boolean => !this.#planned.has(taskKey(request));
    const missing = plan.missing.filter(isNew);
    const disturbed = plan.disturbed.filter(isNew);
    for (const { request } of [...missing, ...disturbed]) this.#planned.add(taskKey(request));
    return { ...plan, missing, disturbed };
  }

  has({ request }: Task): boolean {
    return this.results.get(request) !== undefined;
  }

  /** Whether the task failed on the first occasion, so that there is nothing to repeat. */
  hasFailedBefore({ request }: Task): boolean {
    if (request.occasion === FIRST_OCCASION) return false;
    return this.results.get({ ...request, occasion: FIRST_OCCASION })?.outcome.kind === 'failure';
  }

  /** Measures the missing tasks, which the progress already expects, then the disturbed ones again. */
  async measure(
    { tasks, missing, disturbed }: MeasuringPlan,
    { remeasure }: Remeasuring,
    progress?: RunProgress,
  ): Promise<MeasuringCost> {
    const before = this.#measuring.wallMs;
    const wasMissing = new Set(missing);
    const known = tasks.filter((task) => !wasMissing.has(task));
    const knownMs = known.reduce((sum, { request }) => sum + (this.results.get(request)?.costMs ?? 0), 0);
    this.#measured += await this.#measuring.measure(missing, remeasure, progress);
    this.#measured += await this.#measuring.replaceWhileQuiet(disturbed);
    return { nowMs: this.#measuring.wallMs - before, beforeMs: knownMs };
  }

  measureMore(plan: MeasuringPlan, request: Remeasuring): Promise<MeasuringCost> {
    return this.measure(plan, request, RunProgress.of('repeating', plan.missing));
  }

  /** The phase without the tasks that failed before, which the progress then no longer expects. */
  withoutFailed(plan: MeasuringPlan): MeasuringPlan {
    const failed = plan.missing.filter((task) => this.hasFailedBefore(task));
    this.progress.drop(failed);
    return { ...plan, missing: plan.missing.filter((task) => !failed.includes(task)) };
  }
}

export const NO_COST: MeasuringCost = { nowMs: 0, beforeMs: 0 };

export function sumOfCosts(one: MeasuringCost, other: MeasuringCost): MeasuringCost {
  return { nowMs: one.nowMs + other.nowMs, beforeMs: one.beforeMs + other.beforeMs };
}
