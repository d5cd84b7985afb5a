import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { messageOf, PlatformError } from '../../base/errors.js';
import { readKernelFacts } from '../../measurement/kernel-facts.js';
import { elementTypeOfProfile } from '../../onnx/model/element-type.js';
import type { ProfiledKernel, ProfiledRun } from '../profile.js';

// Chrome's trace events, one on each line, in the order in which they ended. Source: ONNX Runtime,
// onnxruntime/core/common/profiler.cc (EndProfiling) and core/framework/sequential_executor.cc (KernelScope).

const tensorsSchema = z.array(z.record(z.string(), z.array(z.int())));

const kernelSchema = z.object({
  cat: z.literal('Node'),
  name: z.string(),
  /** Since the beginning of the session, and duration; in microseconds. */
  ts: z.number().nonnegative(),
  dur: z.number().nonnegative(),
  args: z.looseObject({
    op_name: z.string(),
    provider: z.string().default(''),
    input_type_shape: tensorsSchema.default([]),
    output_type_shape: tensorsSchema.default([]),
  }),
});

const runSchema = z.object({
  cat: z.literal('Session'),
  name: z.literal('model_run'),
  ts: z.number().nonnegative(),
  dur: z.number().nonnegative(),
});

const eventSchema = z.object({ cat: z.string(), name: z.string() });

const END_BYTES = 16;

const KERNEL_SUFFIX = '_kernel_time';

/** They execute subgraphs, whose kernels end before them. */
const HOLDERS = new Set('If Loop Scan BeamSearch GreedySearch Sampling WhisperBeamSearch SequenceMap'.split(' '));

function listDims(tensors: z.infer<typeof tensorsSchema>): number[][] {
  return tensors.flatMap((tensor) => Object.values(tensor));
}

function listTypes(tensors: z.infer<typeof tensorsSchema>): string[] {
  return tensors.flatMap((tensor) => Object.keys(tensor).map((type) => elementTypeOfProfile(type, 'onnxruntime')));
}

function buildKernel(
  { name, ts, dur, args }: z.infer<typeof kernelSchema>,
  inner: readonly ProfiledKernel[],
): ProfiledKernel {
  const outputTypes = listTypes(args.output_type_shape);
  return {
    name: name.slice(0, -KERNEL_SUFFIX.length),
    opType: args.op_name,
    executionProvider: args.provider,
    // Since the start of the session, until the start of the run is known.
    startNs: ts * 1000,
    durationNs: dur * 1000,
    inputDims: listDims(args.input_type_shape),
    outputDims: listDims(args.output_type_shape),
    inputTypes: listTypes(args.input_type_shape),
    outputTypes,
    elementType: outputTypes[0] ?? '',
    inner,
    ...readKernelFacts(args),
  };
}

function since(originNs: number, kernel: ProfiledKernel): ProfiledKernel {
  const inner = kernel.inner.map((one) => since(originNs, one));
  return { ...kernel, startNs: kernel.startNs - originNs, inner };
}

class RunCollector {
  readonly runs: ProfiledRun[] = [];
  #kernels: ProfiledKernel[] = [];

  add(event: unknown): void {
    const { cat, name } = eventSchema.parse(event);
    if (cat === 'Node' && name.endsWith(KERNEL_SUFFIX)) this.#addKernel(kernelSchema.parse(event));
    if (cat === 'Session' && name === 'model_run') this.#endRun(runSchema.parse(event));
  }

  #addKernel(event: z.infer<typeof kernelSchema>): void {
    if (!HOLDERS.has(event.args.op_name)) {
      this.#kernels.push(buildKernel(event, []));
      return;
    }
    const first = this.#kernels.findIndex(({ startNs }) => startNs >= event.ts * 1000);
    const inner = first === -1 ? [] : this.#kernels.splice(first);
    this.#kernels.push(buildKernel(event, inner));
  }

  #endRun({ ts, dur }: z.infer<typeof runSchema>): void {
    const originNs = ts * 1000;
    this.runs.push({ durationNs: dur * 1000, kernels: this.#kernels.map((kernel) => since(originNs, kernel)) });
    this.#kernels = [];
  }
}

/** The runtime closes the list of events last. @throws PlatformError `storage` where it could not */
async function checkComplete(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, Math.max(0, size - END_BYTES));
    if (buffer.subarray(0, bytesRead).toString('latin1').trimEnd().endsWith(']')) return;
  } finally {
    await file.close();
  }
  const problem = `the runtime could not write its profile to ${path}: the disk is full, or a quota or a limit is reached`;
  throw new PlatformError('storage', `${problem}; make room there or set TMPDIR to another folder`);
}

/** @throws PlatformError `storage` where the file was cut off, `unsupported` for another format */
export async function readProfile(path: string): Promise<readonly ProfiledRun[]> {
  const collector = new RunCollector();
  await checkComplete(path);
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      const event = line.trim().replace(/,$/, '');
      if (event.startsWith('{')) collector.add(JSON.parse(event));
    }
  } catch (cause) {
    const message = `the runtime's profile is not understood: ${messageOf(cause)}`;
    throw new PlatformError('unsupported', message, { cause });
  }
  return collector.runs;
}
