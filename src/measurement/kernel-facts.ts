import type { z } from 'zod';
import { ownValue } from '../base/own-value.js';
import { snakeKey, withSnakeKeys } from '../base/snake-case.js';
// Only the types: the schemas take a worker process a part of its start.
import type { kernelMemorySchema, poolSchema } from './kernel-facts-schema.js';

export type KernelMemory = Readonly<z.infer<typeof kernelMemorySchema>>;
export type PoolSections = Readonly<z.infer<typeof poolSchema>>;

/** What a profile says about a kernel besides its time. Older runtimes do not say it. */
export interface KernelFacts {
  readonly memory?: KernelMemory | undefined;
  /** Absent with one thread, which has no pool. */
  readonly pool?: PoolSections | undefined;
}

/** A kernel of a run with the runtime's profile. */
export interface TracedKernel extends KernelFacts {
  /** Its place in a run: 7, or 7-0-1 inside of the subgraphs that kernel 7 executes. Kernel 7's time includes it. */
  readonly sequenceIndex: string;
  readonly name: string;
  readonly opName: string;
  /** Shapes of the outputs, as in [1,64,56,56]; several are separated by semicolons. */
  readonly shape: string;
  readonly inputShape: string;
  /** Element types, separated by semicolons; empty from agents of earlier versions. */
  readonly inputTypes: string;
  readonly outputTypes: string;
  readonly runMs: readonly number[];
}

export function isOutermost({ sequenceIndex }: Pick<TracedKernel, 'sequenceIndex'>): boolean {
  return !sequenceIndex.includes('-');
}

type Args = Readonly<Record<string, unknown>>;

const MEMORY = {
  parameterBytes: 'parameter_size',
  activationBytes: 'activation_size',
  outputBytes: 'output_size',
  allocatedBytes: 'mem_requested_in_use_delta',
  requestedBytes: 'mem_bytes_requested_in_use',
  inUseBytes: 'mem_bytes_in_use',
  peakBytes: 'mem_in_use_peak',
  arenaBytes: 'mem_arena_held',
} as const satisfies Readonly<Record<keyof KernelMemory, string>>;

const MEMORY_FIELDS = Object.keys(MEMORY) as readonly (keyof KernelMemory)[];

function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The memory that some fields state; undefined where none does, or one cannot be true. */
function readMemory(value: (field: keyof KernelMemory) => number | undefined): KernelMemory | undefined {
  const memory: { -readonly [Field in keyof KernelMemory]: KernelMemory[Field] } = {};
  for (const field of MEMORY_FIELDS) {
    const number = value(field);
    if (number === undefined) continue;
    if (number < 0 && field !== 'allocatedBytes') return undefined;
    memory[field] = number;
  }
  return Object.keys(memory).length > 0 ? memory : undefined;
}

function readSections(value: (field: keyof PoolSections) => number | undefined): PoolSections | undefined {
  const runUs = value('runUs') ?? -1;
  const waitUs = value('waitUs') ?? -1;
  const distributionUs = value('distributionUs') ?? -1;
  return Math.min(runUs, waitUs, distributionUs) < 0 ? undefined : { runUs, waitUs, distributionUs };
}

function readPool(statistics: unknown): PoolSections | undefined {
  if (typeof statistics !== 'object' || statistics === null) return undefined;
  const main = (statistics as Args)['main_thread'];
  if (typeof main !== 'object' || main === null) return undefined;
  const names = { runUs: 'Run', waitUs: 'Wait', distributionUs: 'Distribution' } as const;
  return readSections((field) => readNumber(ownValue(main as Args, names[field])));
}

/** The facts in the arguments of an event of ONNX Runtime's profile; facts that it lacks are absent. */
export function readKernelFacts(args: Args): KernelFacts {
  const memory = readMemory((field) => readNumber(ownValue(args, MEMORY[field])));
  const pool = readPool(args['thread_scheduling_stats']);
  return { ...(memory && { memory }), ...(pool && { pool }) };
}

/** Tags of spans, which importers read again: those of the memory are the names of the fields. */
const POOL_TAGS = { runUs: 'pool_run', waitUs: 'pool_wait', distributionUs: 'pool_distribution' } as const;

export function tagsOfFacts({ memory, pool }: KernelFacts): Readonly<Record<string, number>> {
  const ofPool = pool && {
    [POOL_TAGS.runUs]: pool.runUs,
    [POOL_TAGS.waitUs]: pool.waitUs,
    [POOL_TAGS.distributionUs]: pool.distributionUs,
  };
  const tags = { ...withSnakeKeys(memory), ...ofPool };
  return Object.fromEntries(
    Object.entries(tags).flatMap(([tag, value]) => (value === undefined ? [] : [[tag, value]])),
  );
}

export function factsOfTags(tag: (name: string) => unknown): KernelFacts {
  const memory = readMemory((field) => readNumber(tag(snakeKey(field))));
  const pool = readSections((field) => readNumber(tag(POOL_TAGS[field])));
  return { ...(memory && { memory }), ...(pool && { pool }) };
}

/** Facts of one kernel over its runs: the memory of the first run, and the mean of the pool's sections. */
export class FactsOverRuns {
  #memory: KernelMemory | undefined;
  #pool: PoolSections = { runUs: 0, waitUs: 0, distributionUs: 0 };
  #runsWithPool = 0;

  add({ memory, pool }: KernelFacts): void {
    this.#memory ??= memory;
    if (pool === undefined) return;
    this.#runsWithPool++;
    this.#pool = {
      runUs: this.#pool.runUs + pool.runUs,
      waitUs: this.#pool.waitUs + pool.waitUs,
      distributionUs: this.#pool.distributionUs + pool.distributionUs,
    };
  }

  get facts(): KernelFacts {
    const runs = this.#runsWithPool;
    const { runUs, waitUs, distributionUs } = this.#pool;
    const pool = { runUs: runUs / runs, waitUs: waitUs / runs, distributionUs: distributionUs / runs };
    return { ...(this.#memory && { memory: this.#memory }), ...(runs > 0 && { pool }) };
  }
}
