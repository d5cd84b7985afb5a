import {
  type BenchmarkAgent,
  countLayers,
  type LoadedModel,
  type Model,
  sumOf,
  tensorBytes,
  counted,
  gigabytes,
  type Limits,
  maxOf,
} from '../../../src/plugin-api.js';
import { findRepeatedBlocks, type RepeatedBlocks } from '../blocks/find-blocks.js';
import { shortenModel, extendSequences } from '../blocks/shorten-model.js';
import { chooseGranularity, type CutSettings, decompose, countEnds } from './decompose.js';
import { emptyCall } from './empty-call.js';
import { outputCopy, outputTypes } from './output-copy.js';
import { hasShortKernels, roundedFootprint, computeFootprint } from './unique-bricks.js';

/** More bytes of weights need further files: protobuf's limit. */
export const LARGE_BYTES = 2 ** 31;

/** Fewer do not pay for a model that is not large. */
const MIN_BLOCKS_TO_BE_FASTER = 8;

/** Both shortened graphs over the whole one. Each also has what is beside the blocks, such as a table of words. */
const MAX_NODES = 2 / 3;
const MAX_BYTES = 1;

/** The time of a runtime's optimizer grows faster than the number of nodes, and these take it tens of seconds. */
const SLOW_NODES = 10_000;

const FEWER = 2;
const MORE = 3;

interface Shortening {
  readonly blocks: RepeatedBlocks;
  readonly wholeBytes: number;
  readonly shortenedBytes: number;
}

export type Extension =
  | ({ readonly kind: 'extended'; readonly optimizedWith: readonly number[] } & Shortening)
  | { readonly kind: 'whole'; readonly reason: string };

function initializerBytes({ graph }: Model): number {
  return sumOf([...graph.initializers.values()].map(tensorBytes));
}

function isFaster(
  { graph: { nodes } }: Model,
  { length, count }: RepeatedBlocks,
  wholeBytes: number,
  shortenedBytes: readonly number[],
): boolean {
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
  {
    cut,
    keep_dynamic: keepDynamic = false,
    shorten = 'auto',
    values,
  }: Pick<CutSettings, 'cut' | 'keep_dynamic' | 'shorten' | 'values'>,
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
  const bytes = [FEWER, MORE].map((keep) => initializerBytes(shortenModel(model, blocks, keep).model));
  if (shorten === 'auto' && !isLarge && !isFaster(model, blocks, wholeBytes, bytes)) return undefined;
  return { blocks, wholeBytes, shortenedBytes: bytes[1] ?? 0 };
}

/** Extends the bricks of a model with two and three blocks to all, where the third has the second's kernels. */
export async function prepareExtended(
  loaded: LoadedModel,
  shortening: Shortening,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
) {
  const { model } = loaded;
  const { blocks, wholeBytes } = shortening;
  // Only a graph that no values steer is extended, by bricks that do not span blocks.
  const granularity = chooseGranularity(settings, agent.description);
  const made = { ...settings, values: 'made-up' as const, granularity };
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
  const extended = extendSequences(namesOf(two), { sequences: namesOf(three), edges: recipe.edges }, blocks.count);
  if (extended.kind === 'different') return { ...extended, costMs };
  const kernels = extended.sequences.sequences.length;
  const isLarge = wholeBytes > LARGE_BYTES;
  if (settings.granularity === undefined && !isLarge && hasShortKernels(three.graph, kernels)) {
    return { kind: 'different' as const, reason: 'its kernels are short, so that its bricks are longer', costMs };
  }
  if (recipe.made_up_values !== undefined) {
    return { kind: 'different' as const, reason: 'sizes or work in it depend on made-up values', costMs };
  }
  const indexOf = new Map(recipe.bricks.map(({ signature }, index) => [signature, index]));
  const fewerBytes = computeFootprint(two.graph);
  const moreBytes = computeFootprint(three.graph);
  const footprint = moreBytes + (blocks.count - MORE) * Math.max(0, moreBytes - fewerBytes);
  const ends = countEnds(model);
  const call = emptyCall(ends, { joined: false });
  const isTogether = recipe.footprint_bytes !== undefined;
  // An output of a left-out block has the type of its counterpart in a kept one.
  const outputs = model.graph.outputs.map((name) => three.outputOf.get(name) ?? name);
  const handed = isTogether ? outputCopy(outputTypes(three.graph, outputs)) : undefined;
  return {
    kind: 'extended' as const,
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
    extension: { kind: 'extended' as const, optimizedWith: [FEWER, MORE], ...shortening },
    costMs,
  };
}

/** To show before a runtime optimizes so many nodes that it takes long; undefined for fewer. */
export function nodesNote(loaded: LoadedModel, settings: CutSettings): string | undefined {
  const { length } = loaded.model.graph.nodes;
  if (settings.cut === 'layer' || length < SLOW_NODES) return undefined;
  const blocks = describeShortening(loaded, settings)?.blocks;
  const nodes = blocks === undefined ? length : length - (blocks.count - MORE) * blocks.length;
  if (nodes < SLOW_NODES) return undefined;
  return `${loaded.name}: a graph of ${counted(nodes, 'node')} is optimized, which may take minutes`;
}

/** To show before anything of a large model is built; undefined for models that are not large. */
export function bytesNote(
  loaded: LoadedModel,
  building: CutSettings & { readonly limits: Limits; readonly measureEndToEnd: boolean },
): string | undefined {
  const { name, model } = loaded;
  const wholeBytes = initializerBytes(model);
  if (wholeBytes <= LARGE_BYTES) return undefined;
  const { measureEndToEnd, limits } = building;
  const shortening = describeShortening(loaded, building);
  const parts = [`${name}: ${gigabytes(wholeBytes)} of weights`];
  if (shortening !== undefined) {
    const { blocks, shortenedBytes } = shortening;
    const block = `${counted(blocks.count, 'repeated block')} of ${counted(blocks.length, 'layer')}`;
    parts.push(`${block}: graphs with at most ${gigabytes(shortenedBytes)} are optimized`);
  } else if (building.cut === 'kernel') parts.push('its whole graph is optimized');
  const largest = Math.max(0, maxOf([...model.graph.initializers.values()].map(tensorBytes)));
  parts.push(`its largest weight has ${gigabytes(largest)}`);
  const limit = gigabytes(limits.memoryLimitBytes);
  parts.push(`the limit of a measurement is ${limit}`);
  if (measureEndToEnd && wholeBytes > limits.memoryLimitBytes)
    parts.push('the whole model exceeds it and is not measured');
  return parts.join('; ');
}
