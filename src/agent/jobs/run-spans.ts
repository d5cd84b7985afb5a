import { withSnakeKeys } from '../../base/snake-case.js';
import { type PoolSections, tagsOfFacts } from '../../measurement/kernel-facts.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import type { TimedSpan } from '../../tracing/span.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import { toUnixNano } from '../../tracing/unix-time.js';
import type { TimedRun, TimedRuns } from './timed-runs.js';

// Names and tags are those of the platform, so that its analyses can read these spans.

export interface RunSpansOptions {
  readonly level: TraceLevel;
  readonly profile?: readonly ProfiledRun[] | undefined;
  readonly bricks?: number | undefined;
}

/** Shapes as in `[1,3,224,224]`; several are separated by semicolons. */
function shapeText(shapes: readonly (readonly number[])[]): string {
  return shapes.map((dims) => `[${dims.join(',')}]`).join(';');
}

/** The kernel's place in its run: 7, or 7-0-1 inside of the subgraphs that kernel 7 executed. */
export function sequenceIndex(parent: string, position: number): string {
  return parent === '' ? `${position}` : `${parent}-${position}`;
}

/** The runtime says how long the sections of its thread pool took together, not when: they are put one after another. */
function poolSpans(pool: PoolSections | undefined, startUnixNano: bigint): readonly TimedSpan[] {
  if (pool === undefined) return [];
  const sections = [
    ['distribution', pool.distributionUs],
    ['run', pool.runUs],
    ['wait', pool.waitUs],
  ] as const;
  let at = startUnixNano;
  return sections.flatMap(([section, durationUs]): TimedSpan[] => {
    if (durationUs === 0) return [];
    const startUnixNano = at;
    const durationNs = durationUs * 1000;
    at += BigInt(Math.round(durationNs));
    const name = `thread_pool ${section}`;
    const attributes = { section, placed: 'one after another' };
    const level = 'SYSTEM_LIBRARY_TRACE';
    return [{ name, level, startUnixNano, durationNs, attributes, children: [] }];
  });
}

/** What a profile says about a kernel besides its times, its memory and its threads. */
export function describeKernel(kernel: ProfiledKernel) {
  const { opType, outputDims, inputDims, inputTypes, outputTypes, elementType, executionProvider } = kernel;
  return {
    opName: opType,
    shape: shapeText(outputDims),
    inputShape: shapeText(inputDims),
    inputTypes: inputTypes.join(';'),
    outputTypes: outputTypes.join(';'),
    elementType,
    executionProvider,
  };
}

function kernelSpan(kernel: ProfiledKernel, index: string, runUnixNano: bigint): TimedSpan {
  const { name, opType, startNs, durationNs, inner } = kernel;
  return {
    name: name === '' ? opType : name,
    level: 'FRAMEWORK_TRACE',
    startUnixNano: runUnixNano + BigInt(Math.max(0, startNs)),
    durationNs,
    attributes: {
      layer_sequence_index: index,
      ...withSnakeKeys(describeKernel(kernel)),
      ...tagsOfFacts(kernel),
    },
    children: [
      ...poolSpans(kernel.pool, runUnixNano + BigInt(Math.max(0, startNs))),
      ...inner.map((one, position) => kernelSpan(one, sequenceIndex(index, position), runUnixNano)),
    ],
  };
}

/** The framework's clock has another origin: the profiled run is put into the middle of the run measured outside. */
function kernelSpans({ startNs, durationNs }: TimedRun, profiled: ProfiledRun): readonly TimedSpan[] {
  const callNs = Math.max(0, Math.floor((durationNs - profiled.durationNs) / 2));
  const runUnixNano = toUnixNano(startNs) + BigInt(callNs);
  return profiled.kernels.map((kernel, position) => kernelSpan(kernel, sequenceIndex('', position), runUnixNano));
}

export function runSpans(
  runs: readonly TimedRun[],
  { level, profile = [], bricks }: RunSpansOptions,
): readonly TimedSpan[] {
  return runs.map((run, position): TimedSpan => {
    const profiled = profile[position];
    return {
      name: 'c_predict',
      level: 'MODEL_TRACE',
      startUnixNano: toUnixNano(run.startNs),
      durationNs: run.durationNs,
      attributes: {
        evaluation_trace_level: level,
        batch_index: position,
        // Distinguishes a run of bricks from a run of a whole model.
        ...(bricks === undefined ? {} : { bricks }),
      },
      children: profiled === undefined ? [] : kernelSpans(run, profiled),
    };
  });
}

function spanOfRuns(
  name: string,
  runs: readonly TimedRun[],
  children: readonly TimedSpan[],
  attributes: TimedSpan['attributes'],
): readonly TimedSpan[] {
  const [first] = runs;
  const last = runs.at(-1);
  if (first === undefined || last === undefined) return [];
  const durationNs = Number(last.startNs - first.startNs) + last.durationNs;
  const startUnixNano = toUnixNano(first.startNs);
  return [{ name, level: 'APPLICATION_TRACE', startUnixNano, durationNs, attributes, children }];
}

export function recordRuns(
  recorder: SpanRecorder,
  { warmups, runs }: TimedRuns,
  { profile, bricks }: Pick<RunSpansOptions, 'profile' | 'bricks'> = {},
): void {
  if (!recorder.wants('APPLICATION_TRACE')) return;
  const level = profile === undefined ? 'MODEL_TRACE' : 'FRAMEWORK_TRACE';
  const predictions = recorder.wants('MODEL_TRACE') ? runSpans(runs, { level, profile, bricks }) : [];
  const counts = { num_warmup_batches: warmups.length, num_batches: runs.length };
  for (const span of spanOfRuns('warm_up', warmups, [], counts)) recorder.add(span);
  for (const span of spanOfRuns('evaluate', runs, predictions, counts)) recorder.add(span);
}
