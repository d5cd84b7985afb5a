import { groupedBy } from '../../base/grouped-by.js';
import { append } from '../../base/long-lists.js';
import { isColdFootprint } from '../../composite/footprint.js';
import type { MeasureRequest } from '../benchmark-agent.js';
import { type Numbered, requestsTogether } from './requests-together.js';

/** Fewest requests of an item, where there are enough requests: each item costs at least one session of the runtime. */
const FEWEST = 8;

/** Number of items per agent in one call: more than one, so that a slow agent takes fewer of them. */
const ITEMS_EACH = 2;

export interface DivideOptions {
  readonly agents: number;
  /** Last-level cache of each agent; 0 where it is not known. */
  readonly cacheBytes: number;
  readonly mostRequests?: number;
  readonly mostBytes?: number;
}

interface ItemLimits {
  readonly requests: number;
  readonly bytes: number;
}

function countModelBytes(together: readonly Numbered[]): number {
  return together.reduce((sum, { request }) => sum + request.benchmark.model.length, 0);
}

/** Divides requests into pieces of limited length, which differ by one at most. */
function pieces(together: readonly Numbered[], limits: ItemLimits): readonly (readonly Numbered[])[] {
  const { length } = together;
  const wanted = Math.ceil(Math.max(1, length / limits.requests, countModelBytes(together) / limits.bytes));
  // The fewest pieces that are no longer than those of the wanted number.
  const count = Math.ceil(length / Math.ceil(length / wanted));
  const findStart = (piece: number): number => Math.ceil((piece * length) / count);
  return Array.from({ length: count }, (_, piece) => together.slice(findStart(piece), findStart(piece + 1)));
}

/**
 * One agent measures an item: requests of one setup and context, in their order. Where caches hold a part of a model,
 * all of its bricks are in one item: fewer bricks would be warmer in the caches.
 */
export function divideWork(
  requests: readonly MeasureRequest[],
  { agents, cacheBytes, mostRequests = Infinity, mostBytes = Infinity }: DivideOptions,
): readonly (readonly Numbered[])[] {
  const share = Math.max(FEWEST, Math.ceil(requests.length / (ITEMS_EACH * agents)));
  const limits = { requests: Math.min(mostRequests, share), bytes: mostBytes };
  return requestsTogether(requests).flatMap((together) => buildItems(together, limits, cacheBytes));
}

function buildItems(
  together: readonly Numbered[],
  limits: ItemLimits,
  cacheBytes: number,
): readonly (readonly Numbered[])[] {
  const items: Numbered[][] = [];
  const modelOf = ({ request: { context, modelBytes } }: Numbered): string =>
    `${context?.footprintBytes ?? 'alone'} ${modelBytes ?? ''}`;
  for (const model of groupedBy(together, modelOf).values()) {
    const footprintBytes = model[0]?.request.context?.footprintBytes ?? Infinity;
    const isCold = isColdFootprint(footprintBytes, cacheBytes);
    for (const piece of pieces(model, isCold ? limits : { ...limits, requests: Infinity })) {
      const last = items.at(-1);
      if (last !== undefined && fits(last, piece, limits)) append(last, piece);
      else items.push([...piece]);
    }
  }
  return items;
}

/** Whether a piece may join an item: the few requests of a small model do not justify a session of their own. */
function fits(item: readonly Numbered[], piece: readonly Numbered[], limits: ItemLimits): boolean {
  const [first] = item;
  const [next] = piece;
  const isSameContext = first?.request.context?.footprintBytes === next?.request.context?.footprintBytes;
  const isSmall =
    item.length + piece.length <= limits.requests && countModelBytes(item) + countModelBytes(piece) <= limits.bytes;
  return isSameContext && isSmall;
}
