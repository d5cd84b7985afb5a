import { type Both, DisjointSets, groupedBy } from '../../../src/plugin-api.js';
import type { DecomposedModel } from '../bricks/unique-bricks.js';

/** Different kernels between the same values; indices of bricks. */
export type Region = Both<readonly number[]>;

type Cut = Pick<DecomposedModel, 'recipe' | 'computes'>;

/** As often as both have them. */
function withoutShared(cuts: Both<Cut>, [first, second]: Region): Region {
  const signatureOf = (side: 0 | 1, brick: number): string => cuts[side].recipe.bricks[brick]?.signature ?? '';
  const left = second.map((brick) => signatureOf(1, brick));
  const isLeft = (signature: string): boolean => {
    const at = left.indexOf(signature);
    return at >= 0 && left.splice(at, 1).length > 0;
  };
  const ofFirst = first.filter((brick) => !isLeft(signatureOf(0, brick)));
  return [ofFirst, second.filter((brick) => isLeft(signatureOf(1, brick)))];
}

/**
 * Runtimes keep the names of values that a fusion does not remove. A kernel without such a name belongs to those that
 * read its value; kernels that only one side has, such as changes of layout, belong to neighbors that differ.
 *
 * @returns none where the names of the values are not known
 */
export function findRegions(cuts: Both<Cut>): readonly Region[] {
  const [{ computes: one }, { computes: other }] = cuts;
  if (one === undefined || other === undefined) return [];
  const inOther = new Set(other.flat());
  const common = new Set(one.flat().filter((name) => inOther.has(name)));
  const parts = [one, other].flatMap((names, side) => {
    return names.map((_, sequence) => ({ side: side === 0 ? 0 : 1, sequence }) as const);
  });
  const indexOf = (side: 0 | 1, sequence: number): number => sequence + side * one.length;
  const edges = ([0, 1] as const).flatMap((side) => {
    return cuts[side].recipe.edges.map(([from, to]) => [indexOf(side, from), indexOf(side, to)] as const);
  });

  // One more for the end of the graph, which reads what no kernel reads.
  const sets = new DisjointSets(parts.length + 1);
  const read = new Set(edges.map(([from]) => from));
  const firstWith = new Map<string, number>();
  const isNamed = parts.map(({ side, sequence }, index) => {
    const names = (cuts[side].computes?.[sequence] ?? []).filter((name) => common.has(name));
    for (const name of names) {
      sets.join(index, firstWith.get(name) ?? index);
      firstWith.set(name, index);
    }
    if (names.length === 0 && !read.has(index)) sets.join(index, parts.length);
    return names.length > 0;
  });
  for (const [from, to] of edges) if (isNamed[from] === false) sets.join(from, to);

  const ofSets = groupedBy(parts, ({ side, sequence }) => sets.find(indexOf(side, sequence)));
  const differing = new Map(
    [...ofSets].map(([set, members]) => {
      const bricksOf = (of: 0 | 1): readonly number[] => {
        const own = members.filter(({ side }) => side === of);
        return own.flatMap(({ sequence }) => cuts[of].recipe.sequences[sequence] ?? []);
      };
      return [set, withoutShared(cuts, [bricksOf(0), bricksOf(1)])] as const;
    }),
  );
  const countSides = (set: number): number => (differing.get(set) ?? []).filter(({ length }) => length > 0).length;
  for (const edge of edges) {
    const from = sets.find(edge[0]);
    const to = sets.find(edge[1]);
    for (const [alone, region] of [
      [from, to],
      [to, from],
    ] as const) {
      if (countSides(alone) !== 1 || countSides(region) !== 2) continue;
      const left = differing.get(alone);
      const kept = differing.get(region);
      differing.set(region, [
        [...(kept?.[0] ?? []), ...(left?.[0] ?? [])],
        [...(kept?.[1] ?? []), ...(left?.[1] ?? [])],
      ]);
      differing.delete(alone);
    }
  }
  return [...differing.values()].filter((region) => region.every(({ length }) => length > 0));
}
