import { type Benchmark, inputBytes } from '../measurement/benchmark.js';
import type { Context } from '../measurement/measurement.js';
import { elementCount, tensorBytes } from '../onnx/model/element-type.js';
import { findMeaning } from '../onnx/operators/operator-versions.js';
import type { Repetition } from './composite.js';
import { isColdFootprint } from './footprint.js';
import { type Operators, readOperators } from './read-operators.js';

export interface BrickInContext {
  readonly benchmark: Benchmark;
  readonly context: Context;
  /** Bytes that its model touches in one run, unrounded; 0 where it is not known. */
  readonly modelBytes: number;
  /** Order of magnitude of the time of one run; ms; 0 where it is not known. */
  readonly roughMs: number;
}

export interface CompositePlan {
  /** Their indices among the requested bricks, in order. */
  readonly bricks: readonly number[];
  /** Additional bytes to read in every run; see buildComposite. */
  readonly paddingBytes: number;
  readonly repetition: Repetition;
}

export interface PlanLimits {
  readonly memoryLimitBytes: number;
  /** Last-level cache; 0 where it is not known. */
  readonly cacheBytes: number;
  /** Runs of each composite, warm-ups included. */
  readonly runs: number;
}

/** Limit of a composite's bytes relative to its footprint: half a step of {@link footprintClass}. */
const MAX_EXCESS = 2;

/** ONNX Runtime's profiler.h, max_num_events_. Half of the events are not kernels. */
const MAX_EVENTS = 500_000;

/** Events of a run per node of a brick: those of the node, of its producers, and of the nodes that read its output. */
const EVENTS_PER_NODE = 4;

/** Between two runs of a brick, by order of magnitude: systems take away memory that was unused for some seconds. */
const MAX_ROUGH_MS = 1000;

/** Memory of a runtime without a model, and per session. */
const RUNTIME_BYTES = 256 * 2 ** 20;

/** Weights are in memory as filled, and a second time where the runtime packs them for its kernels. */
const COPIES_OF_WEIGHTS = 2;

/** By order of magnitude: the first kernels of a run find the processor as the code between runs leaves it. */
const MIN_ROUGH_MS = 1;

/** Limit of the nodes that repeating adds. */
const MAX_REPEATED_NODES = 600;

/** Limit of the bytes of a graph that repeats bricks: a forest is one node with all its trees. */
const MAX_REPEATED_BYTES = 2 ** 22;

interface Facts {
  readonly index: number;
  readonly footprintBytes: number;
  readonly modelBytes: number;
  readonly roughMs: number;
  readonly weightBytes: number;
  /** Bytes of the weights that one run reads. */
  readonly touchedBytes: number;
  readonly activationBytes: number;
  readonly graphBytes: number;
  readonly operators: Operators;
}

/** Of a table for lookups, a run reads at most one row for each element of the activations. */
function touchedBytes({ inputs }: Benchmark, { gathered }: Operators): number {
  const numbers = inputs.reduce((sum, { role, dims }) => sum + (role === 'activation' ? elementCount(dims) : 0), 0);
  const touched = inputs.map((input) => {
    if (input.role !== 'weight') return 0;
    const bytes = tensorBytes(input);
    const rows = input.dims[0] ?? 1;
    return gathered.has(input.name) && rows > numbers ? (bytes / rows) * numbers : bytes;
  });
  return touched.reduce((sum, bytes) => sum + bytes, 0);
}

function collectFacts({ benchmark, context, modelBytes, roughMs }: BrickInContext, index: number): Facts {
  const operators = readOperators(benchmark.model);
  return {
    index,
    footprintBytes: context.footprintBytes,
    modelBytes,
    roughMs,
    weightBytes: inputBytes(benchmark.inputs, 'weight'),
    touchedBytes: touchedBytes(benchmark, operators),
    // Outputs are about as large as inputs.
    activationBytes: 2 * inputBytes(benchmark.inputs, 'activation'),
    graphBytes: benchmark.model.length,
    operators,
  };
}

/**
 * Bricks of any models if everything is cold, else of one: other machines use the same last-level cache, so as much
 * time has to pass between two runs of a brick as in its model, and outputs have to lie as close (docs/measuring.md).
 */
class CompositeDraft {
  readonly footprintBytes: number;
  readonly #modelBytes: number;
  readonly #isCold: boolean;
  readonly bricks: Facts[] = [];
  readonly #opsets = new Map<string, number>();
  readonly #standard = new Set<string>();
  weightBytes = 0;
  #touchedBytes = 0;
  /** Bytes of the largest activations of one brick: the runtime's arena serves the bricks one after another. */
  #arenaBytes = 0;
  #nodes = 0;
  #graphBytes = 0;
  #roughMs = 0;

  constructor(
    { footprintBytes, modelBytes }: Facts,
    private readonly limits: PlanLimits,
  ) {
    this.footprintBytes = footprintBytes;
    this.#modelBytes = modelBytes;
    this.#isCold = isColdFootprint(footprintBytes, limits.cacheBytes);
  }

  takes(brick: Facts): boolean {
    if (brick.footprintBytes !== this.footprintBytes) return false;
    if (!this.#isCold && brick.modelBytes !== this.#modelBytes) return false;
    return this.#fits(brick) && this.#meansTheSame(brick.operators);
  }

  #fits({ weightBytes, touchedBytes, activationBytes, operators, roughMs }: Facts): boolean {
    const { memoryLimitBytes, runs } = this.limits;
    if (this.#roughMs + roughMs > MAX_ROUGH_MS) return false;
    const weights = this.weightBytes + weightBytes;
    const arena = Math.max(this.#arenaBytes, activationBytes);
    if (RUNTIME_BYTES + COPIES_OF_WEIGHTS * weights + 2 * arena > memoryLimitBytes) return false;
    if ((this.#nodes + operators.nodes) * EVENTS_PER_NODE * runs > MAX_EVENTS) return false;
    return this.#isCold || this.#touchedBytes + touchedBytes + arena <= this.footprintBytes * MAX_EXCESS;
  }

  /** Whether every operator, new or present, has the same definition in the newer opset as in its own. */
  #meansTheSame({ opsets, standard }: Operators): boolean {
    const newer = (domain: string, version: number): number => Math.max(version, this.#opsets.get(domain) ?? version);
    for (const [domain, version] of opsets) {
      const together = newer(domain, version);
      const before = this.#opsets.get(domain) ?? together;
      if (domain !== '' && together !== Math.min(version, before)) return false;
      if (domain !== '') continue;
      const isSame = (from: number) => (opType: string) => findMeaning(opType, from) === findMeaning(opType, together);
      if (![...standard].every(isSame(version)) || ![...this.#standard].every(isSame(before))) return false;
    }
    return true;
  }

  add(brick: Facts): void {
    this.bricks.push(brick);
    this.weightBytes += brick.weightBytes;
    this.#touchedBytes += brick.touchedBytes;
    this.#arenaBytes = Math.max(this.#arenaBytes, brick.activationBytes);
    this.#nodes += brick.operators.nodes;
    this.#graphBytes += brick.graphBytes;
    this.#roughMs += brick.roughMs;
    for (const [domain, version] of brick.operators.opsets) {
      this.#opsets.set(domain, Math.max(version, this.#opsets.get(domain) ?? version));
    }
    for (const opType of brick.operators.standard) this.#standard.add(opType);
  }

  plan(): CompositePlan {
    const repetition = this.#repetition();
    const ownBytes = repetition.weightSets * this.#touchedBytes + this.#arenaBytes;
    return {
      bricks: this.bricks.map(({ index }) => index),
      paddingBytes: Math.max(0, this.footprintBytes - ownBytes),
      repetition,
    };
  }

  #repetition(): Repetition {
    // Where caches hold nothing, repeats would be warmer than the model.
    if (this.#isCold || this.#roughMs === 0) return { times: 1, weightSets: 1 };
    const most = Math.min(MAX_REPEATED_NODES / Math.max(1, this.#nodes), MAX_REPEATED_BYTES / this.#graphBytes);
    const times = Math.max(1, Math.floor(Math.min(Math.ceil(MIN_ROUGH_MS / this.#roughMs), most)));
    // A model that repeats its kernels has other weights for each, as far as its footprint goes.
    const weightSets = Math.floor(this.#modelBytes / Math.max(1, this.weightBytes));
    return { times, weightSets: Math.max(1, Math.min(times, weightSets)) };
  }
}

/**
 * Few composites within footprints, memory, time, opsets and a profile's length. Bricks stay in their order. Composites
 * with fewer weights come first: the results of one are stored while the next loads its weights, not while it runs.
 */
export function planComposites(bricks: readonly BrickInContext[], limits: PlanLimits): readonly CompositePlan[] {
  const drafts: CompositeDraft[] = [];
  for (const [index, brick] of bricks.entries()) {
    const facts = collectFacts(brick, index);
    // The newest composite with room for it, so that neighbours stay together.
    let draft = drafts.findLast((one) => one.takes(facts));
    if (draft === undefined) {
      draft = new CompositeDraft(facts, limits);
      drafts.push(draft);
    }
    draft.add(facts);
  }
  return drafts.sort((a, b) => a.weightBytes - b.weightBytes).map((draft) => draft.plan());
}
