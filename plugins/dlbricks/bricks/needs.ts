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

export function runOptionsOfNeed({ isOptimized }: Need, runOptions: RunOptions): RunOptions {
  return isOptimized === true ? optimizedRun(runOptions) : runOptions;
}

/** Fewest runs of a graph of copies: of three, the median is taken. */
const MIN_RUNS_OF_COPIES = 3;

/**
 * For each run of a whole model. A model is the sum of several bricks, whose errors average out: four equal bricks with
 * a quarter of the runs each have its standard error.
 */
const EXECUTIONS_PER_RUN = 1 / 4;

/** One warm-up touches every page. */
function protocolOfCopies(protocol: Protocol, copies: number): Protocol {
  const wanted = Math.ceil((protocol.runs * EXECUTIONS_PER_RUN) / copies);
  const runs = Math.min(protocol.runs, Math.max(MIN_RUNS_OF_COPIES, wanted));
  const { minRuns, warmupRuns } = protocol;
  return { ...protocol, runs, minRuns: Math.min(minRuns, runs), warmupRuns: Math.min(warmupRuns, 1) };
}

/** undefined where bricks are not measured together. */
export function computeContext({ footprint_bytes: bytes }: ModelRecipe, { cacheBytes }: System): Context | undefined {
  return bytes === undefined ? undefined : { footprintBytes: footprintClass(bytes, cacheBytes) };
}

export function callNeed(signature: string, protocol: Protocol): Need {
  return { signature, protocol, isOptimized: true };
}

/** Runs as often as a composite, because it may take long. */
export function outputCopyNeed(signature: string, protocol: Protocol): Need {
  return callNeed(signature, protocolOfComposite(protocol));
}

export function brickNeeds(
  { signature, context: asCopies }: BrickRecipe,
  context: Context | undefined,
  protocol: Protocol,
): { readonly benchmark: Need; readonly baseline: Need | undefined } {
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
    ...handing.map((signature) => outputCopyNeed(signature, protocol)),
  ];
}

export function modelNeeds(recipe: ModelRecipe, system: System, protocol: Protocol): readonly Need[] {
  const context = computeContext(recipe, system);
  const ofBricks = recipe.bricks.flatMap((brick) => {
    const { baseline, benchmark } = brickNeeds(brick, context, protocol);
    return baseline === undefined ? [benchmark] : [baseline, benchmark];
  });
  return [...callNeeds(recipe, protocol), ...ofBricks];
}
