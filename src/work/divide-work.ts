import { type Numbered, requestsTogether } from '../agent/client/requests-together.js';
import type { MeasureRequest } from '../agent/benchmark-agent.js';
import { isColdFootprint } from '../composite/footprint.js';

/** Fewest measurements of an item where there are enough: each item costs at least one session of the runtime. */
const FEWEST = 8;

/** Most measurements of an item: one that is delivered again loses little. */
const MOST = 64;

/** Items that each agent gets of one call, so that a slow one takes fewer. */
const ITEMS_EACH = 2;

/** Most bytes of an item's models. */
const MOST_BYTES = 4 * 2 ** 20;

/** Requests of one model in one context, which are measured together best. */
function modelOf({ request: { context, modelBytes } }: Numbered): string {
  return `${context?.footprintBytes ?? 'alone'} ${modelBytes ?? ''}`;
}

function bytesOf(together: readonly Numbered[]): number {
  return together.reduce((sum, { request }) => sum + request.benchmark.model.length, 0);
}

/** Requests in pieces of limited length, none of which is much shorter than the others. */
function pieces(together: readonly Numbered[], most: number): readonly (readonly Numbered[])[] {
  const count = Math.max(Math.ceil(together.length / most), Math.ceil(bytesOf(together) / MOST_BYTES));
  const length = Math.ceil(together.length / count);
  return Array.from({ length: Math.ceil(together.length / length) }, (_, piece) =>
    together.slice(piece * length, (piece + 1) * length),
  );
}

/**
 * Divides requests among agents: into items that one agent each measures, which have one way of measuring and one
 * context, and keep their order. Where caches hold a part of a model, all of its bricks are in one item: a part of them
 * would be warmer. A benchmark without a context is an item of its own.
 *
 * @param sharing how many agents share them, 1 at least, and the last-level cache of each; 0 where it is not known
 */
export function divideWork(
  requests: readonly MeasureRequest[],
  { agents, cacheBytes }: { readonly agents: number; readonly cacheBytes: number },
): readonly (readonly Numbered[])[] {
  const most = Math.min(MOST, Math.max(FEWEST, Math.ceil(requests.length / (ITEMS_EACH * agents))));
  return requestsTogether(requests).flatMap((together) => itemsOf(together, most, cacheBytes));
}

function itemsOf(together: readonly Numbered[], most: number, cacheBytes: number): readonly (readonly Numbered[])[] {
  const models = new Map<string, Numbered[]>();
  for (const numbered of together) {
    const key = modelOf(numbered);
    const ofModel = models.get(key);
    if (ofModel === undefined) models.set(key, [numbered]);
    else ofModel.push(numbered);
  }
  const items: Numbered[][] = [];
  for (const model of models.values()) {
    const footprintBytes = model[0]?.request.context?.footprintBytes ?? Infinity;
    for (const piece of pieces(model, isColdFootprint(footprintBytes, cacheBytes) ? most : Infinity)) {
      const last = items.at(-1);
      if (last !== undefined && fits(last, piece, most)) last.push(...piece);
      else items.push([...piece]);
    }
  }
  return items;
}

/** Whether an item may have these as well: what small models have is not worth a session each. */
function fits(item: readonly Numbered[], piece: readonly Numbered[], most: number): boolean {
  const [first] = item;
  const [next] = piece;
  const isSameContext = first?.request.context?.footprintBytes === next?.request.context?.footprintBytes;
  return isSameContext && item.length + piece.length <= most && bytesOf(item) + bytesOf(piece) <= MOST_BYTES;
}
