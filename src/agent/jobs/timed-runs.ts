import { sumOf } from '../../base/sum-of.js';
import type { Protocol } from '../../measurement/protocol.js';
import type { PreparedRun } from '../../predictor/predictor.js';
import type { MeasureProgress } from '../benchmark-agent.js';
import type { CoreProbe } from './core-probe.js';

export interface TimingContext {
  readonly nowNs: () => bigint;
  /** Called between runs, outside of the measured time: frees a run's outputs and lets pending events run. */
  readonly settle: () => Promise<void>;
  /** Resolves when the report is sent. */
  readonly onProgress: (progress: MeasureProgress) => Promise<void>;
  readonly coreProbe: CoreProbe;
  /** Page faults of this process that read from the disk so far; by default of the operating system. */
  readonly majorFaults?: () => number;
}

export interface TimedRun {
  readonly startNs: bigint;
  readonly durationNs: number;
}

/** Fields of Conditions. */
export type SharedRuns = Readonly<Record<'droppedRuns' | 'sharedShare' | 'majorFaults', number>>;

export interface TimedRuns {
  readonly warmups: readonly TimedRun[];
  readonly runs: readonly TimedRun[];
  readonly indices: readonly number[];
  readonly taken: number;
  readonly sharing: SharedRuns;
}

export type RunPlan = Pick<Protocol, 'warmupRuns' | 'runs' | 'minRuns' | 'timeBudgetMs'> & {
  readonly threads: number;
  /** Further runs follow the warm-up runs until this time has passed, and are not recorded. */
  readonly warmupMs?: number;
};

const MAX_FURTHER_WARMUPS = 1000;

/** Shortest time between two progress reports during the runs. */
const PROGRESS_INTERVAL_MS = 200;

export function runDurationMs({ durationNs }: TimedRun): number {
  return durationNs / 1e6;
}

/** A run, and the duration of the slower probe of the two around it. */
interface ProbedRun extends TimedRun {
  readonly probeNs: number;
}

/** Between probes of several cores: the runtime's threads must become idle first, which takes longer than a probe. */
const PROBE_EVERY_MS = 100;

/** Most runs that are made for each run that the plan asks for. */
export const MAX_RUNS_PER_RUN = 4;

interface Amount {
  readonly runs: number;
  readonly ms: number;
}

const NOTHING: Amount = { runs: 0, ms: 0 };

function plus({ runs, ms }: Amount, more: Amount): Amount {
  return { runs: runs + more.runs, ms: ms + more.ms };
}

function isEnough({ runs, ms }: Amount, plan: RunPlan): boolean {
  return runs >= plan.runs || (runs >= plan.minRuns && ms >= plan.timeBudgetMs);
}

class RunCount {
  #all = NOTHING;
  #alone = NOTHING;

  constructor(
    private readonly plan: RunPlan,
    private readonly probe: CoreProbe,
  ) {}

  add(ms: number, isShared: boolean): void {
    this.probe.count(ms, isShared);
    this.#all = plus(this.#all, { runs: 1, ms });
    if (!isShared) this.#alone = plus(this.#alone, { runs: 1, ms });
  }

  get counted(): number {
    return this.#counting.runs;
  }

  /** Number of runs that will count, if all take as long as those so far. */
  get expected(): number {
    const { runs, minRuns, timeBudgetMs } = this.plan;
    const { runs: made, ms } = this.#counting;
    return ms === 0 ? runs : Math.min(runs, Math.max(minRuns, made, Math.ceil((timeBudgetMs * made) / ms)));
  }

  /** @param more further runs, which are assumed to count */
  isEnoughWith(more: Amount): boolean {
    return isEnough(plus(this.#counting, more), this.plan);
  }

  get #counting(): Amount {
    const isPatient = this.probe.isPatient && this.#all.runs < MAX_RUNS_PER_RUN * this.plan.runs;
    return isPatient ? this.#alone : this.#all;
  }
}

/** Prefers runs on a core that is not shared, then those with the fastest probes. */
function counted(
  taken: readonly ProbedRun[],
  plan: RunPlan,
  probe: CoreProbe,
): Omit<TimedRuns, 'warmups' | 'sharing'> & { readonly sharing: Omit<SharedRuns, 'majorFaults'> } {
  const slownessOf = ({ probeNs }: ProbedRun): number => (probe.isShared(probeNs) ? probeNs : 0);
  const slowness = taken.map(slownessOf);
  const byOrder = (a: number, b: number): number => a - b;
  const leastSlowed = [...taken.keys()].sort((a, b) => byOrder(slowness[a] ?? 0, slowness[b] ?? 0) || byOrder(a, b));
  const indices: number[] = [];
  let amount = NOTHING;
  for (const index of leastSlowed) {
    const run = taken[index];
    if (run === undefined || isEnough(amount, plan)) break;
    indices.push(index);
    amount = plus(amount, { runs: 1, ms: runDurationMs(run) });
  }
  indices.sort(byOrder);
  const shared = indices.filter((index) => (slowness[index] ?? 0) > 0).length;
  return {
    runs: indices.flatMap((index) => taken[index] ?? []),
    indices,
    taken: taken.length,
    sharing: { droppedRuns: taken.length - indices.length, sharedShare: shared / Math.max(1, indices.length) },
  };
}

/** Runs on a core shared with another machine do not count, unless that lasts. Probes decide it, never latencies. */
export async function timeRuns(
  model: PreparedRun,
  plan: RunPlan,
  { nowNs, settle, onProgress, coreProbe, majorFaults = () => process.resourceUsage().majorPageFault }: TimingContext,
): Promise<TimedRuns> {
  const count = new RunCount(plan, coreProbe);
  let reportedNs = nowNs();
  const timedRun = async (runsDone: number): Promise<TimedRun> => {
    const aroundNs = nowNs();
    if (runsDone === 0 || Number(aroundNs - reportedNs) >= PROGRESS_INTERVAL_MS * 1e6) {
      reportedNs = aroundNs;
      const runsTotal = plan.warmupRuns + Math.max(count.expected, runsDone - plan.warmupRuns);
      await onProgress({ phase: 'running', runsDone, runsTotal });
    }
    await settle();
    const startNs = nowNs();
    await model.execute();
    return { startNs, durationNs: Number(nowNs() - startNs) };
  };

  const warmups: TimedRun[] = [];
  while (warmups.length < plan.warmupRuns) warmups.push(await timedRun(warmups.length));
  let warmMs = sumOf(warmups.map(runDurationMs));
  for (let further = 0; warmMs < (plan.warmupMs ?? 0) && further < MAX_FURTHER_WARMUPS; further++) {
    warmMs += runDurationMs(await timedRun(plan.warmupRuns));
  }
  const taken: ProbedRun[] = [];
  const everyMs = plan.threads === 1 ? 0 : PROBE_EVERY_MS;
  const faultsBefore = majorFaults();
  let lastNs = await coreProbe.take(plan.threads);
  while (!count.isEnoughWith(NOTHING)) {
    const beforeNs = await coreProbe.untilAlone(plan.threads, lastNs);
    const group: TimedRun[] = [];
    let groupMs = 0;
    do {
      const run = await timedRun(plan.warmupRuns + count.counted + group.length);
      group.push(run);
      groupMs += runDurationMs(run);
    } while (groupMs < everyMs && !count.isEnoughWith({ runs: group.length, ms: groupMs }));
    const afterNs = await coreProbe.take(plan.threads);
    const probeNs = Math.max(beforeNs, afterNs);
    for (const run of group) {
      taken.push({ ...run, probeNs });
      count.add(runDurationMs(run), coreProbe.isShared(probeNs));
    }
    lastNs = afterNs;
  }
  const faults = majorFaults() - faultsBefore;
  const kept = counted(taken, plan, coreProbe);
  const runsDone = warmups.length + kept.runs.length;
  await onProgress({ phase: 'running', runsDone, runsTotal: runsDone });
  return { warmups, ...kept, sharing: { ...kept.sharing, majorFaults: faults } };
}
