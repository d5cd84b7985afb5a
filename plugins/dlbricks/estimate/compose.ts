import { type Context, sumOf } from '../../../src/plugin-api.js';
import type { KernelPredictor, Prediction, Unknown } from '../predict/kernel-predictor.js';
import { repeatsIn } from '../blocks/find-blocks.js';
import { type BrickRecipe, countBricks, countTimed, type MadeUpPart, type ModelRecipe } from '../bricks/recipe.js';
import {
  brickKey,
  type BrickLatency,
  brickLatency,
  type CallLatency,
  callLatency,
  outputCopyLatency,
  type RecipeInContext,
  type Observations,
} from './brick-latency.js';
import { intervalWithinRuns, type Margin, predictionInterval, type Spreads, type Uncertainty } from './interval.js';
import { longestPath } from './longest-path.js';
import type { Interval } from './statistics.js';

export interface Missing {
  readonly signature: string;
  readonly operators: readonly string[];
  /** Shapes of its inputs, which distinguish bricks with the same operators; empty where they are not known. */
  readonly shapes: readonly string[];
  /** Number of the model's sequences that it stands for. */
  readonly count: number;
  readonly reason: string;
}

export interface BrickShare {
  readonly signature: string;
  readonly benchmark: string;
  readonly operators: readonly string[];
  /** Number of the model's sequences that it stands for. */
  readonly count: number;
  readonly onPath?: number | undefined;
  readonly measured: { readonly way: 'together' | 'alone' } | { readonly way: 'copies'; readonly copies: number };
  readonly ms: number | undefined;
  readonly prediction?: Prediction | undefined;
  readonly occasions: number;
  readonly processes: readonly string[];
  readonly tried: number;
  readonly runs: number;
  /** Wall time that all occasions cost, ms. */
  readonly costMs: number;
}

export interface RepeatedBlock {
  readonly count: number;
  readonly bricks: readonly { readonly signature: string; /** In one block. */ readonly sequences: number }[];
}

export interface PlacedSequence {
  /** Names of its layers or kernels; undefined where they are not known. */
  readonly kernels: readonly string[] | undefined;
  readonly operators: readonly string[];
  readonly ms: number | undefined;
  readonly isPredicted: boolean;
}

export interface Estimate {
  readonly name: string;
  readonly layers: number;
  readonly sequences: number;
  readonly uniqueBricks: number;
  /** Share of the sequences that were measured, and whose work does not depend on made-up values; 0 to 1. */
  readonly coverage: number;
  /** Whether all sequences were measured or predicted, so that the sums are those of the whole model. */
  readonly isWhole: boolean;
  readonly madeUpValues: MadeUpPart | undefined;
  /** Over all measured sequences. With made-up values, its lower end is that of the others, and it has no upper end. */
  readonly sequential: Interval | undefined;
  /** Longest path through the graph of sequences: the latency of a runtime with unlimited parallelism. */
  readonly parallel: Interval | undefined;
  readonly longestPath: readonly number[];
  readonly placed: readonly PlacedSequence[];
  readonly edges: ModelRecipe['edges'];
  /** Half the interval's width that more measurements reduce, relative; undefined where not known. */
  readonly measuringError: number | undefined;
  /** Half the width that remains however often bricks are measured, relative; undefined where not known. */
  readonly leastError: number | undefined;
  readonly predictedMs: number;
  /** What the profile added to the measured kernels, and was subtracted; ms. */
  readonly profileMs?: number | undefined;
  /** Half the widths of the sequential total's interval at all levels; empty where they are not known. */
  readonly margins: readonly Margin[];
  readonly parts: readonly BrickShare[];
  readonly blocks: readonly RepeatedBlock[];
  readonly missing: readonly Missing[];
}

function repeatedBlocks({ bricks, sequences }: Pick<ModelRecipe, 'bricks' | 'sequences'>): readonly RepeatedBlock[] {
  return repeatsIn(sequences).map(({ first, length, count }) => {
    const counts = countBricks({ bricks, sequences: sequences.slice(first, first + length) });
    const parts = bricks.map(({ signature }, index) => ({ signature, sequences: counts[index] ?? 0 }));
    return { count, bricks: parts.filter((part) => part.sequences > 0) };
  });
}

function describeMeasuring(brick: BrickRecipe, context: Context | undefined): BrickShare['measured'] {
  if (brick.context !== undefined) return { way: 'copies', copies: brick.context.copies };
  return { way: context === undefined ? 'alone' : 'together' };
}

function listCalls({ recipe: { call, handing_over: handed } }: RecipeInContext, observations: Observations) {
  const calls: (Pick<Missing, 'signature' | 'operators'> & { readonly latency: CallLatency | Unknown })[] = [];
  if (call !== undefined) {
    calls.push({ signature: call, operators: ['(empty call)'], latency: callLatency(call, observations) });
  }
  if (handed !== undefined) {
    const latency = outputCopyLatency(handed, observations);
    calls.push({ signature: handed.leaving, operators: ['(handing over outputs)'], latency });
  }
  return calls;
}

/**
 * Sequential is the sum over a model's sequences, parallel the longest path (DLBricks, section 3.3). Bricks without a
 * successful measurement are listed and reduce the coverage.
 *
 * @param spreads without them, an estimate in context has no interval
 * @param predictor for the bricks that were never measured; without it, they are missing
 */
export function compose(
  model: RecipeInContext,
  observations: Observations,
  spreads?: Spreads,
  predictor?: KernelPredictor,
): Estimate {
  const { recipe, context } = model;
  const { name, layers, bricks, sequences, made_up_values: madeUpValues } = recipe;
  const counts = countBricks(recipe);
  const found = bricks.map((brick, index): BrickLatency | Prediction | Unknown => {
    const latency = brickLatency(brick, context, observations);
    const kernels = model.facts?.[index] ?? [];
    // Of a measurement that failed, the reason is known.
    const isTried = observations.has(brickKey(brick, context));
    if (latency.kind === 'known' || predictor === undefined || isTried || kernels.length === 0) return latency;
    return predictor.predict(kernels, context?.footprintBytes ?? 0);
  });
  const calls = listCalls(model, observations);
  const latencies = found.map((one) => (one.kind === 'known' ? one : undefined));
  const predictions = found.map((one) => (one.kind === 'predicted' ? one : undefined));
  const times = found.map((one) => (one.kind === 'unknown' ? undefined : one.ms));
  const knownCalls = calls.flatMap(({ latency }) => (latency.kind === 'known' ? [latency.within] : []));
  const computeUncertainty = (ofSequences: readonly number[]): Uncertainty | undefined => {
    const counted = countBricks({ bricks, sequences: ofSequences.map((index) => sequences[index] ?? 0) });
    const terms = counted.flatMap((count, brick) => {
      const latency = latencies[brick];
      return latency === undefined || count === 0 ? [] : [{ latency, count }];
    });
    const predicted = counted.flatMap((count, brick) => {
      const prediction = predictions[brick];
      return prediction === undefined || count === 0 ? [] : [{ prediction, count }];
    });
    // A model that the runtime reduces to constants is its call alone.
    const isCallOnly = sequences.length === 0 && knownCalls.length > 0;
    if (terms.length + predicted.length === 0 && !isCallOnly) return undefined;
    const commonError = predicted.length === 0 ? undefined : predictor?.commonError;
    const timed = bricks.map((brick, index) => (predictions[index] ? brick.operators.length : countTimed(brick)));
    const kernels = sumOf(timed.map((count, brick) => count * (counted[brick] ?? 0)));
    const sum = { terms, predicted, commonError, kernels, calls: knownCalls };
    return recipe.call === undefined ? intervalWithinRuns(sum) : predictionInterval(sum, spreads);
  };
  const madeUp = new Set(madeUpValues?.sequences);
  const sumOver = (ofSequences: readonly number[]): Uncertainty | undefined => {
    const sum = computeUncertainty(ofSequences);
    const others = ofSequences.filter((index) => !madeUp.has(index));
    if (sum === undefined || others.length === ofSequences.length) return sum;
    const lowMs = computeUncertainty(others)?.interval.lowMs ?? 0;
    return { ...sum, interval: { ...sum.interval, lowMs, highMs: undefined }, margins: [] };
  };
  const weights = sequences.map((brick) => times[brick] ?? 0);
  const path = longestPath(recipe, weights);
  const countsOnPath = countBricks({ bricks, sequences: path.map((index) => sequences[index] ?? 0) });
  const missingBricks = bricks.flatMap(({ signature, operators, shapes = [] }, index): Missing[] => {
    const one = found[index];
    if (one?.kind !== 'unknown') return [];
    return [{ signature, operators, shapes, count: counts[index] ?? 0, reason: one.reason }];
  });
  const missingCalls = calls.flatMap(({ signature, operators, latency }): Missing[] => {
    return latency.kind === 'known' ? [] : [{ signature, operators, shapes: [], count: 0, reason: latency.reason }];
  });
  const missed = sumOf(missingBricks.map(({ count }) => count));
  const sure = sequences.filter((brick, index) => !madeUp.has(index) && latencies[brick] !== undefined).length;
  const sequential = sumOver([...sequences.keys()]);
  return {
    name,
    layers,
    sequences: sequences.length,
    uniqueBricks: bricks.length,
    coverage: sequences.length === 0 ? Number(knownCalls.length > 0) : sure / sequences.length,
    isWhole: missed === 0 && (sequences.length > 0 || knownCalls.length > 0),
    madeUpValues,
    sequential: sequential?.interval,
    parallel: sumOver(path)?.interval,
    longestPath: path,
    placed: sequences.map((brick, index) => ({
      kernels: model.names?.[index],
      operators: bricks[brick]?.operators ?? [],
      ms: times[brick],
      isPredicted: predictions[brick] !== undefined,
    })),
    edges: recipe.edges,
    measuringError: sequential?.measuringError,
    leastError: sequential?.leastError,
    predictedMs: sumOf(counts.map((count, brick) => count * (predictions[brick]?.ms ?? 0))),
    profileMs: sumOf(counts.map((count, brick) => count * (latencies[brick]?.profileMs ?? 0))),
    margins: sequential?.margins ?? [],
    parts: bricks.map((brick, index): BrickShare => {
      const latency = latencies[index];
      const benchmark = brickKey(brick, context);
      return {
        signature: brick.signature,
        benchmark,
        operators: brick.operators,
        count: counts[index] ?? 0,
        onPath: countsOnPath[index] ?? 0,
        measured: describeMeasuring(brick, context),
        ms: latency?.ms,
        prediction: predictions[index],
        occasions: latency?.occasionsMs.length ?? 0,
        processes: latency?.processes ?? [],
        tried: observations.get(benchmark)?.length ?? 0,
        runs: latency?.runs ?? 0,
        costMs: latency?.costMs ?? 0,
      };
    }),
    blocks: repeatedBlocks(recipe),
    missing: [...missingBricks, ...missingCalls],
  };
}
