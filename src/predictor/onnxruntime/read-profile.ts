import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { messageOf, PlatformError } from '../../base/errors.js';
import { ownValue } from '../../base/own-value.js';
import { readKernelFacts } from '../../measurement/kernel-facts.js';
import { elementTypeOfProfile } from '../../onnx/model/element-type.js';
import type { ProfiledKernel, ProfiledRun } from '../profile.js';

// Chrome's trace events, one on each line, in the order in which they ended. Source: ONNX Runtime,
// onnxruntime/core/common/profiler.cc (EndProfiling) and core/framework/sequential_executor.cc (KernelScope).

// The fields are read by hand: a library of schemas takes a worker process a part of its start.
type Fields = Readonly<Record<string, unknown>>;

const END_BYTES = 16;

const KERNEL_SUFFIX = '_kernel_time';

/** They execute subgraphs, whose kernels end before them. */
const HOLDERS = new Set('If Loop Scan BeamSearch GreedySearch Sampling WhisperBeamSearch SequenceMap'.split(' '));

function readFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new TypeError('expected an object');
  return value as Fields;
}

function readText(fields: Fields, name: string): string {
  const value = ownValue(fields, name);
  if (typeof value !== 'string') throw new TypeError(`expected a text as ${name}`);
  return value;
}

/** Of a moment since the beginning of the session, or of a duration. */
function readNs(fields: Fields, name: 'ts' | 'dur'): number {
  const value = fields[name];
  if (typeof value !== 'number' || !(value >= 0)) throw new TypeError(`expected microseconds as ${name}`);
  return value * 1000;
}

/** Type and dimensions of each tensor: [{"float":[1,3]},{"int64":[2]}]. */
function readTensors(args: Fields, name: string): readonly (readonly [type: string, dims: number[]])[] {
  const tensors = ownValue(args, name) ?? [];
  if (!Array.isArray(tensors)) throw new TypeError(`expected a list as ${name}`);
  return tensors.flatMap((tensor) =>
    Object.entries(readFields(tensor)).map(([type, dims]): readonly [string, number[]] => {
      if (!Array.isArray(dims) || !dims.every(Number.isSafeInteger))
        throw new TypeError(`expected dimensions in ${name}`);
      return [type, dims];
    }),
  );
}

function listTypes(tensors: ReturnType<typeof readTensors>): string[] {
  return tensors.map(([type]) => elementTypeOfProfile(type, 'onnxruntime'));
}

/** Of a run that has not ended: its start is not known, and times are since the start of the session. */
type Kernel = { -readonly [Field in keyof ProfiledKernel]: ProfiledKernel[Field] } & {
  readonly inner: readonly Kernel[];
};

function readKernel(event: Fields, args: Fields, inner: readonly Kernel[]): Kernel {
  const inputs = readTensors(args, 'input_type_shape');
  const outputs = readTensors(args, 'output_type_shape');
  const outputTypes = listTypes(outputs);
  return {
    name: readText(event, 'name').slice(0, -KERNEL_SUFFIX.length),
    opType: readText(args, 'op_name'),
    executionProvider: args['provider'] === undefined ? '' : readText(args, 'provider'),
    startNs: readNs(event, 'ts'),
    durationNs: readNs(event, 'dur'),
    inputDims: inputs.map(([, dims]) => dims),
    outputDims: outputs.map(([, dims]) => dims),
    inputTypes: listTypes(inputs),
    outputTypes,
    elementType: outputTypes[0] ?? '',
    inner,
    ...readKernelFacts(args),
  };
}

function setOrigin(originNs: number, kernels: readonly Kernel[]): void {
  for (const kernel of kernels) {
    kernel.startNs -= originNs;
    setOrigin(originNs, kernel.inner);
  }
}

class RunCollector {
  readonly runs: ProfiledRun[] = [];
  #kernels: Kernel[] = [];

  add(event: Fields): void {
    const category = readText(event, 'cat');
    const name = readText(event, 'name');
    if (category === 'Node' && name.endsWith(KERNEL_SUFFIX)) this.#addKernel(event, readFields(event['args']));
    if (category === 'Session' && name === 'model_run') this.#endRun(readNs(event, 'ts'), readNs(event, 'dur'));
  }

  #addKernel(event: Fields, args: Fields): void {
    const startsNs = readNs(event, 'ts');
    const isHolder = HOLDERS.has(readText(args, 'op_name'));
    const first = isHolder ? this.#kernels.findIndex(({ startNs }) => startNs >= startsNs) : -1;
    const inner = first === -1 ? [] : this.#kernels.splice(first);
    this.#kernels.push(readKernel(event, args, inner));
  }

  #endRun(originNs: number, durationNs: number): void {
    setOrigin(originNs, this.#kernels);
    this.runs.push({ durationNs, kernels: this.#kernels });
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

/** A pause for each piece of the file, not for each line. */
async function* readTextLines(path: string): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'utf8' })) {
    const lines = `${rest}${piece as string}`.split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  yield [rest];
}

/** @throws PlatformError `storage` where the file was cut off, `unsupported` for another format */
export async function readProfile(path: string): Promise<readonly ProfiledRun[]> {
  const collector = new RunCollector();
  await checkComplete(path);
  try {
    for await (const lines of readTextLines(path)) {
      for (const line of lines) {
        const event = line.trim().replace(/,$/, '');
        if (event.startsWith('{')) collector.add(readFields(JSON.parse(event)));
      }
    }
  } catch (cause) {
    const message = `the runtime's profile is not understood: ${messageOf(cause)}`;
    throw new PlatformError('unsupported', message, { cause });
  }
  return collector.runs;
}
