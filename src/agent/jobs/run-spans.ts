import { type PoolSections, tagsOfFacts } from '../../measurement/kernel-facts.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import type { TimedSpan } from '../../tracing/span.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import { unixNanoOf } from '../../tracing/unix-time.js';
import type { TimedRun, TimedRuns } from './timed-runs.js';

// Names and tags are those of the platform, so that its analyses can read these spans: `c_predict` with
// `evaluation_trace_level`, and layers as its children with `layer_sequence_index` (a decimal string), `op_name` and
// `shape`.

export interface RunSpansOptions {
  readonly level: TraceLevel;
  readonly profile?: readonly ProfiledRun[] | undefined;
  readonly bricks?: number | undefined;
}

/** Shapes as in `[1,3,224,224]`; several are separated by semicolons. */
export function shapeText(shapes: readonly (readonly number[])[]): string {
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
  return sections.flatMap(([name, durationUs]): TimedSpan[] => {
    const startNano = at;
    at += BigInt(Math.round(durationUs * 1000));
    const attributes = { section: name, placed: 'one after another' };
    const level = 'SYSTEM_LIBRARY_TRACE';
    const durationNs = durationUs * 1000;
    return durationUs === 0
      ? []
      : [
          {
            name: `thread_pool ${name}`,
            level,
            startUnixNano: startNano,
            durationNs,
            attributes,
            children: [],
            error: undefined,
          },
        ];
  });
}

function kernelSpan(kernel: ProfiledKernel, index: string, runUnixNano: bigint): TimedSpan {
  const { name, opType, executionProvider, elementType, startNs, durationNs, inputDims, outputDims, inner } = kernel;
  const { inputTypes, outputTypes } = kernel;
  return {
    name: name === '' ? opType : name,
    level: 'FRAMEWORK_TRACE',
    startUnixNano: runUnixNano + BigInt(Math.max(0, startNs)),
    durationNs,
    attributes: {
      layer_sequence_index: index,
      op_name: opType,
      shape: shapeText(outputDims),
      input_shape: shapeText(inputDims),
      input_types: inputTypes.join(';'),
      output_types: outputTypes.join(';'),
      element_type: elementType,
      execution_provider: executionProvider,
      ...tagsOfFacts(kernel),
    },
    children: [
      ...poolSpans(kernel.pool, runUnixNano + BigInt(Math.max(0, startNs))),
      ...inner.map((one, position) => kernelSpan(one, sequenceIndex(index, position), runUnixNano)),
    ],
    error: undefined,
  };
}

/**
 * Spans of the run's kernels. The framework's clock has another origin than the clock of this process. So the profiled
 * run is placed in the middle of the run measured from outside, which also includes some microseconds of the call.
 */
function kernelSpans({ startNs, durationNs }: TimedRun, profiled: ProfiledRun): readonly TimedSpan[] {
  const callNs = Math.max(0, Math.floor((durationNs - profiled.durationNs) / 2));
  const runUnixNano = unixNanoOf(startNs) + BigInt(callNs);
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
      startUnixNano: unixNanoOf(run.startNs),
      durationNs: run.durationNs,
      attributes: {
        evaluation_trace_level: level,
        batch_index: position,
        // Distinguishes a run of bricks from a run of a whole model.
        ...(bricks === undefined ? {} : { bricks }),
      },
      children: profiled === undefined ? [] : kernelSpans(run, profiled),
      error: undefined,
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
  const startUnixNano = unixNanoOf(first.startNs);
  return [{ name, level: 'APPLICATION_TRACE', startUnixNano, durationNs, attributes, children, error: undefined }];
}

/** Records spans of a benchmark's warm-up and of its runs, down to the traced level. */
export function recordRuns(
  recorder: SpanRecorder,
  { warmups, runs }: TimedRuns,
  { profile, bricks }: Pick<RunSpansOptions, 'profile' | 'bricks'> = {},
): void {
  // Spans below the traced level are not made.
  if (!recorder.wants('APPLICATION_TRACE')) return;
  const level = profile === undefined ? 'MODEL_TRACE' : 'FRAMEWORK_TRACE';
  const predictions = recorder.wants('MODEL_TRACE') ? runSpans(runs, { level, profile, bricks }) : [];
  const counts = { num_warmup_batches: warmups.length, num_batches: runs.length };
  for (const span of spanOfRuns('warm_up', warmups, [], counts)) recorder.add(span);
  for (const span of spanOfRuns('evaluate', runs, predictions, counts)) recorder.add(span);
}
