import {
  type BenchmarkAgent,
  countLayers,
  type LayerGraph,
  type LoadedModel,
  type Model,
  sumOf,
  type TensorType,
  tensorBytes,
} from '../../../src/plugin-api.js';
import { extendSequences } from '../blocks/extend-sequences.js';
import { findRepeatedBlocks, type RepeatedBlocks } from '../blocks/find-blocks.js';
import { shortenModel } from '../blocks/shorten-model.js';
import { type CutSettings, decompose, arityOf } from './decompose.js';
import { emptyCall } from './empty-call.js';
import { computeFootprint } from './footprint.js';
import { outputCopy } from './output-copy.js';
import { type DecomposedModel, roundedFootprint } from './unique-bricks.js';

/** Models with more bytes of weights are large. No ONNX file can hold more without further files: protobuf's limit. */
export const LARGE_BYTES = 2 ** 31;

/** Fewest blocks of a model that is shortened because that is faster, not because it is large. */
const MIN_BLOCKS_TO_BE_FASTER = 8;

/**
 * Most that both shortened graphs together may have of the nodes, and of the bytes of weights, of the whole graph. Each
 * optimized graph also has the nodes and the weights beside the blocks, such as a table of words.
 */
const [MAX_NODES, MAX_BYTES] = [2 / 3, 1];

/** How many blocks the shortened graphs have: their difference is one block. */
const FEWER = 2;
const MORE = 3;

export interface Shortening {
  readonly blocks: RepeatedBlocks;
  readonly wholeBytes: number;
  readonly shortenedBytes: number;
}

export type Extension =
  | ({ readonly kind: 'extended'; readonly optimizedWith: readonly number[] } & Shortening)
  | { readonly kind: 'whole'; readonly reason: string };

export function initializerBytes({ graph }: Model): number {
  return [...graph.initializers.values()].reduce((sum, tensor) => sum + tensorBytes(tensor), 0);
}

/** Bytes of a model's largest weight: at least one brick needs as many. */
export function largestInitializerBytes({ graph }: Model): number {
  return Math.max(0, ...[...graph.initializers.values()].map(tensorBytes));
}

/** Whether optimizing both shortened graphs takes less time than optimizing the whole one. */
function isFaster({ graph: { nodes } }: Model, { length, count }: RepeatedBlocks, bytes: readonly number[]): boolean {
  const [wholeBytes = 0, ...shortenedBytes] = bytes;
  const shortenedNodes = sumOf([FEWER, MORE].map((keep) => nodes.length - (count - keep) * length));
  return (
    count >= MIN_BLOCKS_TO_BE_FASTER &&
    shortenedNodes <= MAX_NODES * nodes.length &&
    sumOf(shortenedBytes) <= MAX_BYTES * wholeBytes
  );
}

/** @returns undefined where the whole model is to be optimized */
export function describeShortening(
  { model, open, weights }: Pick<LoadedModel, 'model' | 'open' | 'weights'>,
  { cut, keepDynamic = false, shorten = 'auto', values }: ShortenSettings,
): Shortening | undefined {
  if (cut === 'layer' || shorten === 'never' || (keepDynamic && open !== undefined)) return undefined;
  const wholeBytes = initializerBytes(model);
  const isLarge = wholeBytes > LARGE_BYTES;
  if (shorten === 'large' && !isLarge) return undefined;
  // The kernels of a graph with its own weights are compared with those of the whole graph.
  const needsWhole = weights !== undefined || values === 'run';
  if (shorten === 'auto' && !isLarge && needsWhole) return undefined;
  const blocks = findRepeatedBlocks(model);
  if (blocks === undefined) return undefined;
  const [fewerBytes = 0, shortenedBytes = 0] = [FEWER, MORE].map((keep) => {
    return initializerBytes(shortenModel(model, blocks, keep).model);
  });
  const bytes = [wholeBytes, fewerBytes, shortenedBytes];
  if (shorten === 'auto' && !isLarge && !isFaster(model, blocks, bytes)) return undefined;
  return { blocks, wholeBytes, shortenedBytes };
}

type ShortenSettings = Pick<CutSettings, 'cut' | 'keepDynamic' | 'shorten' | 'values'>;

/** A model whose bricks are derived from shortened graphs, or the reason why they cannot be. */
export type PreparedExtended =
  | {
      readonly kind: 'extended';
      readonly decomposed: DecomposedModel;
      readonly extension: Extension;
      readonly costMs: number;
    }
  | { readonly kind: 'different'; readonly reason: string; readonly costMs: number };

/**
 * Types of the whole model's outputs. An output of a left-out block has the type of its counterpart in a kept block.
 */
function outputTypes({ graph }: Model, outputOf: ReadonlyMap<string, string>, made: LayerGraph): readonly TensorType[] {
  return graph.outputs.flatMap((name) => made.types.get(outputOf.get(name) ?? name) ?? []);
}

/**
 * Has the runtime optimize a model with two and with three of its blocks, and extends their bricks to all blocks. Where
 * the third block has other kernels than the second, nothing is extended.
 */
export async function prepareExtended(
  loaded: LoadedModel,
  shortening: Shortening,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedExtended> {
  const { model } = loaded;
  const { blocks, wholeBytes } = shortening;
  // Only a graph that no values steer is extended.
  const made = { ...settings, values: 'made-up' as const };
  const prepared = async (keep: number) => {
    const { model: short, outputOf } = shortenModel(model, blocks, keep);
    const shortened = { ...loaded, model: short, open: undefined, weights: undefined };
    return { ...(await decompose(shortened, made, agent, signal, { surroundingBytes: wholeBytes })), outputOf };
  };
  const two = await prepared(FEWER);
  const three = await prepared(MORE);
  const costMs = two.costMs + three.costMs;
  const namesOf = ({ decomposed: { recipe } }: typeof two): readonly string[] => {
    return recipe.sequences.map((index) => recipe.bricks[index]?.signature ?? '');
  };
  const { bricks, roughMs, facts, largest, recipe } = three.decomposed;
  const inOrder = { sequences: namesOf(three), edges: recipe.edges };
  const extended = extendSequences(namesOf(two), inOrder, blocks.count);
  if (extended.kind === 'different') return { ...extended, costMs };
  if (recipe.made_up_values !== undefined) {
    return { kind: 'different', reason: 'sizes or work in it depend on made-up values', costMs };
  }
  const indexOf = new Map(recipe.bricks.map(({ signature }, index) => [signature, index]));
  const fewerBytes = computeFootprint(two.graph);
  const moreBytes = computeFootprint(three.graph);
  const footprint = moreBytes + (blocks.count - MORE) * Math.max(0, moreBytes - fewerBytes);
  const ends = arityOf(model);
  const call = emptyCall(ends.inputs, ends.outputs, { joined: false });
  const isTogether = recipe.footprint_bytes !== undefined;
  const handed = isTogether ? outputCopy(outputTypes(model, three.outputOf, three.graph)) : undefined;
  return {
    kind: 'extended',
    decomposed: {
      bricks,
      roughMs,
      facts,
      largest,
      call,
      outputCopy: handed,
      recipe: {
        ...recipe,
        layers: countLayers(model),
        call: call.signature,
        ...(handed && { handing_over: { leaving: handed.returned.signature, staying: handed.kept.signature } }),
        ...(isTogether && { footprint_bytes: roundedFootprint(footprint) }),
        sequences: extended.sequences.sequences.map((signature) => indexOf.get(signature) ?? 0),
        edges: extended.sequences.edges.map(([from, to]): [number, number] => [from, to]),
      },
    },
    extension: { kind: 'extended', optimizedWith: [FEWER, MORE], ...shortening },
    costMs,
  };
}
