import {
  type Context,
  footprintClass,
  optimizedRun,
  type Protocol,
  protocolOfComposite,
  type RunOptions,
  type System,
} from '../../../src/plugin-api.js';
import type { BrickRecipe, ModelRecipe } from './recipe.js';

export interface Need {
  readonly signature: string;
  readonly protocol: Protocol;
  readonly context?: Context | undefined;
  /** Kernels are optimized already and run as they are, whatever the evaluation asks of the optimizer. */
  readonly isOptimized?: true;
}

/** The options with which a need is measured. @param runOptions of the evaluation */
export function runOptionsOfNeed({ isOptimized }: Need, runOptions: RunOptions): RunOptions {
  return isOptimized === true ? optimizedRun(runOptions) : runOptions;
}

/** Fewest runs of a graph of copies: of three, the median is taken. */
const MIN_RUNS_OF_COPIES = 3;

/**
 * Executions of a brick as copies for each run that the protocol asks of a whole model. A model is the sum of several
 * bricks, whose errors average out: four equal bricks with a quarter of the runs each have the same standard error as
 * the whole.
 */
const EXECUTIONS_PER_RUN = 1 / 4;

/** The protocol of a graph of copies: fewer runs, since each is several executions; one warm-up touches every page. */
function protocolOfCopies(protocol: Protocol, copies: number): Protocol {
  const wanted = Math.ceil((protocol.runs * EXECUTIONS_PER_RUN) / copies);
  const runs = Math.min(protocol.runs, Math.max(MIN_RUNS_OF_COPIES, wanted));
  return {
    ...protocol,
    runs,
    minRuns: Math.min(protocol.minRuns, runs),
    warmupRuns: Math.min(protocol.warmupRuns, 1),
  };
}

/** The context of a model's bricks where they are measured together on a system; else undefined. */
export function contextOf({ footprint_bytes: bytes }: ModelRecipe, { cacheBytes }: System): Context | undefined {
  return bytes === undefined ? undefined : { footprintBytes: footprintClass(bytes, cacheBytes) };
}

export function callNeed(signature: string, protocol: Protocol): Need {
  return { signature, protocol, isOptimized: true };
}

/** The need for a call that only hands values over. It runs as often as a composite, because it may take long. */
export function handingOverNeed(signature: string, protocol: Protocol): Need {
  return callNeed(signature, protocolOfComposite(protocol));
}

export interface BrickNeeds {
  readonly benchmark: Need;
  readonly baseline: Need | undefined;
}

/** @param context of its model, see {@link contextOf} */
export function brickNeeds(brick: BrickRecipe, context: Context | undefined, protocol: Protocol): BrickNeeds {
  const { signature, context: asCopies } = brick;
  if (asCopies !== undefined) {
    const { copies, benchmark, baseline } = asCopies;
    const ofCopies = { ...callNeed(benchmark, protocol), protocol: protocolOfCopies(protocol, copies) };
    return { benchmark: ofCopies, baseline: callNeed(baseline, protocol) };
  }
  if (context === undefined) return { benchmark: { signature, protocol }, baseline: undefined };
  return { benchmark: { ...callNeed(signature, protocol), context }, baseline: undefined };
}

export function callNeeds({ call, handing_over: handed }: ModelRecipe, protocol: Protocol): readonly Need[] {
  const handing = handed === undefined ? [] : [handed.leaving, handed.staying];
  return [
    ...(call === undefined ? [] : [callNeed(call, protocol)]),
    ...handing.map((signature) => handingOverNeed(signature, protocol)),
  ];
}

export function modelNeeds(recipe: ModelRecipe, system: System, protocol: Protocol): readonly Need[] {
  const context = contextOf(recipe, system);
  const ofBricks = recipe.bricks.flatMap((brick) => {
    const { baseline, benchmark } = brickNeeds(brick, context, protocol);
    return baseline === undefined ? [benchmark] : [baseline, benchmark];
  });
  return [...callNeeds(recipe, protocol), ...ofBricks];
}
