import { mkdirSync, rmSync } from 'node:fs';
import { PlatformError } from '../../base/errors.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import type { Predictor, ProfiledModel } from '../../predictor/predictor.js';
import { refusalOf } from '../failure.js';
import type { KernelTrace, LayerTrace } from '../layer-trace.js';
import type { MeasureContext } from './measure-benchmark.js';
import type { TraceJob } from './job.js';
import { type OpenBenchmark, openBenchmark } from './open-benchmark.js';
import { recordRuns, sequenceIndex, shapeText } from './run-spans.js';
import { durationMsOf, type TimedRuns, timeRuns } from './timed-runs.js';

interface ProfiledRuns extends TimedRuns {
  /** Of the runs without their warm-ups. */
  readonly profile: readonly ProfiledRun[];
}

async function openOrRefuse(job: TraceJob, context: MeasureContext): Promise<OpenBenchmark> {
  const { benchmark, runOptions, plan } = job;
  const request = { benchmark, runOptions, memoryLimitBytes: plan.memoryLimitBytes };
  const load = { level: 'APPLICATION_TRACE' } as const;
  return context.recorder
    .section('load_model', load, () => openBenchmark(request, context))
    .catch((error: unknown) => {
      throw refusalOf(error, 'open');
    });
}

async function runOrRefuse(open: OpenBenchmark, { plan }: TraceJob, context: MeasureContext): Promise<TimedRuns> {
  return timeRuns(open, plan, context).catch((error: unknown) => {
    throw refusalOf(error, 'run');
  });
}

async function runPlain(job: TraceJob, context: MeasureContext): Promise<TimedRuns> {
  const open = await openOrRefuse(job, context);
  try {
    const timed = await runOrRefuse(open, job, context);
    recordRuns(context.recorder, timed);
    return timed;
  } finally {
    await open.close();
  }
}

/** @throws PlatformError `unsupported` where the framework keeps no profile, or not of every run */
async function runProfiled(job: TraceJob, context: MeasureContext, folder: string): Promise<ProfiledRuns> {
  const { predictor } = context;
  const { name, version } = predictor.framework;
  let model: ProfiledModel | undefined;
  const profiling: Predictor = {
    ...predictor,
    async open(source, runOptions) {
      if (predictor.openProfiled === undefined) {
        throw new PlatformError('unsupported', `${name} ${version} keeps no profile of its kernels`);
      }
      model = await predictor.openProfiled(source, runOptions, folder);
      return model;
    },
  };
  const open = await openOrRefuse(job, { ...context, predictor: profiling });
  try {
    const timed = await runOrRefuse(open, job, context);
    const profiled = (await model?.profile()) ?? [];
    const expected = timed.warmups.length + timed.runs.length;
    if (profiled.length !== expected) {
      const problem = `${name} ${version} kept a profile of ${profiled.length} runs out of ${expected}`;
      throw new PlatformError('unsupported', `${problem}; trace fewer runs`);
    }
    const profile = profiled.slice(timed.warmups.length);
    recordRuns(context.recorder, timed, profile);
    return { ...timed, profile };
  } finally {
    await open.close();
  }
}

/** The kernels of all runs, those at the same place put together. */
export function kernelTraces(profile: readonly ProfiledRun[]): readonly KernelTrace[] {
  const found = new Map<string, KernelTrace & { readonly runMs: number[] }>();
  const add = (kernel: ProfiledKernel, index: string): void => {
    const known = found.get(index);
    const durationMs = kernel.durationNs / 1e6;
    if (known === undefined) {
      found.set(index, {
        sequenceIndex: index,
        name: kernel.name,
        opName: kernel.opType,
        executionProvider: kernel.executionProvider,
        shape: shapeText(kernel.outputDims),
        inputShape: shapeText(kernel.inputDims),
        elementType: kernel.elementType,
        runMs: [durationMs],
      });
    } else known.runMs.push(durationMs);
    for (const [position, inner] of kernel.inner.entries()) add(inner, sequenceIndex(index, position));
  };
  for (const { kernels } of profile) {
    for (const [position, kernel] of kernels.entries()) add(kernel, sequenceIndex('', position));
  }
  return [...found.values()];
}

/**
 * Runs a benchmark twice as often as its plan says: first as it is measured, then with the framework's own profile. Each
 * level of tracing slows down what it looks at, so that its cost is only known next to the level below it.
 *
 * Source: leveled experimentation; Li et al., XSP: Across-Stack Profiling and Analysis of Machine Learning Models on GPUs
 * (arXiv 1908.06869), section III-C.
 *
 * @throws PlatformError `unsupported` where the framework refuses the graph or keeps no profile, `model` where running
 *   it fails, `storage` where the temporary folder cannot hold it
 */
export async function traceBenchmark(job: TraceJob, context: MeasureContext): Promise<LayerTrace> {
  const { warmupRuns, runs } = job.plan;
  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: 2 * (warmupRuns + runs) });
  const plain = await runPlain(job, context);
  const folder = `${context.temporaryFolder}.profile`;
  try {
    mkdirSync(folder, { mode: 0o700 });
    const profiled = await runProfiled(job, context, folder);
    return {
      untracedMs: plain.runs.map(durationMsOf),
      tracedMs: profiled.runs.map(durationMsOf),
      kernels: kernelTraces(profiled.profile),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
