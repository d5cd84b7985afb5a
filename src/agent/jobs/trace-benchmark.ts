import { maxOf } from '../../base/long-lists.js';
import { FactsOverRuns } from '../../measurement/kernel-facts.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import type { Protocol } from '../../measurement/protocol.js';
import type { KernelTrace, LayerTrace } from '../layer-trace.js';
import { plannedRuns, type TraceJob } from './job.js';
import type { MeasureContext } from './measure-benchmark.js';
import { openBenchmark, runOpened } from './open-benchmark.js';
import { openProfiled } from './profiled-runs.js';
import { describeKernel, recordRuns, sequenceIndex } from './run-spans.js';
import { withSharing } from './watch-conditions.js';
import { runDurationMs, type TimedRuns, timeRuns } from './timed-runs.js';

export function kernelTraces(profile: readonly ProfiledRun[]): readonly KernelTrace[] {
  const found = new Map<string, KernelTrace & { readonly runMs: number[]; readonly over: FactsOverRuns }>();
  const add = (kernel: ProfiledKernel, index: string): void => {
    const known = found.get(index);
    const durationMs = kernel.durationNs / 1e6;
    if (known === undefined) {
      found.set(index, {
        sequenceIndex: index,
        name: kernel.name,
        ...describeKernel(kernel),
        runMs: [durationMs],
        over: new FactsOverRuns(),
      });
    } else known.runMs.push(durationMs);
    found.get(index)?.over.add(kernel);
    for (const [position, inner] of kernel.inner.entries()) add(inner, sequenceIndex(index, position));
  };
  for (const { kernels } of profile) {
    for (const [position, kernel] of kernels.entries()) add(kernel, sequenceIndex('', position));
  }
  return [...found.values()].map(({ over, ...kernel }) => ({ ...kernel, ...over.facts }));
}

/** A protocol in two parts, which together run as often; the second is undefined where there is one run. */
function halves(protocol: Protocol): readonly [Protocol, Protocol | undefined] {
  const { runs, minRuns, timeBudgetMs } = protocol;
  const part = (round: (value: number) => number): Protocol => {
    return { ...protocol, runs: round(runs / 2), minRuns: round(minRuns / 2), timeBudgetMs: timeBudgetMs / 2 };
  };
  return [part(Math.ceil), runs === 1 ? undefined : part(Math.floor)];
}

/**
 * Each level of tracing slows runs down; its cost is the difference from the level below. Half of the runs without the
 * profile come before those with it, half after, so that slow changes of the machine's speed change both series alike.
 *
 * Source: leveled experimentation; Li et al., XSP (arXiv 1908.06869), section III-C.
 *
 * @throws PlatformError `unsupported` (refused graph, no profile), `model` (failed run), `storage` (no room for files)
 */
export async function traceBenchmark(job: TraceJob, context: MeasureContext): Promise<LayerTrace> {
  const { benchmark, runOptions, protocol, limits } = job;
  const { recorder } = context;
  const request = { benchmark, runOptions, memoryLimitBytes: limits.memoryLimitBytes };
  const openPlain = () => recorder.section('load_model', {}, () => openBenchmark(request, context));
  const runPlain = (half: Protocol): Promise<TimedRuns> =>
    runOpened(openPlain, async (opened) => {
      const timed = await timeRuns(opened, { ...half, threads: runOptions.threads }, context);
      recordRuns(recorder, timed);
      return timed;
    });
  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: plannedRuns(job) });
  const conditions = context.watchConditions();
  const [first, second] = halves(protocol);
  const before = await runPlain(first);
  const openTraced = () => recorder.section('load_model', {}, () => openProfiled(request, context));
  const profiled = await runOpened(openTraced, async (opened) => {
    const timed = await opened.run(protocol);
    recordRuns(recorder, timed, { profile: timed.profile });
    return timed;
  });
  const after = second && (await runPlain(second));
  const series = [before, profiled, ...(after === undefined ? [] : [after])];
  return {
    untracedMs: [...before.runs, ...(after?.runs ?? [])].map(runDurationMs),
    tracedMs: profiled.runs.map(runDurationMs),
    kernels: kernelTraces(profiled.profile),
    conditions: withSharing(conditions(), {
      droppedRuns: series.reduce((sum, { sharing }) => sum + sharing.droppedRuns, 0),
      sharedShare: maxOf(series.map(({ sharing }) => sharing.sharedShare)),
      majorFaults: series.reduce((sum, { sharing }) => sum + sharing.majorFaults, 0),
    }),
  };
}
