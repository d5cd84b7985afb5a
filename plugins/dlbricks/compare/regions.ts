import { type Both, groupedBy } from '../../../src/plugin-api.js';
import type { DecomposedModel } from '../bricks/unique-bricks.js';

/** Kernels that the two sides have between the same values, where they have different ones; indices of bricks. */
export type Region = Both<readonly number[]>;

type Cut = Pick<DecomposedModel, 'recipe' | 'produces'>;

/** For each sequence the first value, its own or a later one, that both sides produce. */
function boundariesOf(produces: readonly (readonly string[])[], common: ReadonlySet<string>): readonly string[] {
  let boundary = '';
  return produces
    .map((_, index) => produces.length - 1 - index)
    .map((index) => {
      boundary = produces[index]?.find((name) => common.has(name)) ?? boundary;
      return boundary;
    })
    .reverse();
}

/** Takes away the bricks that both lists have, as often as both have them. */
function withoutShared(cuts: Both<Cut>, [first, second]: Region): Region {
  const signatureOf = (side: 0 | 1, brick: number): string => cuts[side].recipe.bricks[brick]?.signature ?? '';
  const left = second.map((brick) => signatureOf(1, brick));
  const ofFirst = first.filter((brick) => {
    const at = left.indexOf(signatureOf(0, brick));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const ofSecond = second.filter((brick) => {
    const at = left.indexOf(signatureOf(1, brick));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
  return [ofFirst, ofSecond];
}

/**
 * Where two runtimes cut a graph differently: a fused kernel on one side and several kernels on the other compute from
 * the same values to the same values. Runtimes keep the name of a value that a fusion does not remove.
 *
 * @returns none where the names of the values are not known
 */
export function regionsOf(cuts: Both<Cut>): readonly Region[] {
  const one = cuts[0].produces;
  const other = cuts[1].produces;
  if (one === undefined || other === undefined) return [];
  const names = new Set(other.flat());
  const common = new Set(one.flat().filter((name) => names.has(name)));
  const groups = ([one, other] as const).map((produces, side) => {
    const { sequences } = cuts[side as 0 | 1].recipe;
    const boundaries = boundariesOf(produces, common);
    return groupedBy([...sequences.keys()], (sequence) => boundaries[sequence] ?? '');
  });
  return [...(groups[0] ?? [])].flatMap(([boundary, ofFirst]): Region[] => {
    const ofSecond = groups[1]?.get(boundary) ?? [];
    const bricksOf = (side: 0 | 1, sequences: readonly number[]): readonly number[] => {
      return sequences.flatMap((sequence) => cuts[side].recipe.sequences[sequence] ?? []);
    };
    const region = withoutShared(cuts, [bricksOf(0, ofFirst), bricksOf(1, ofSecond)]);
    return region[0].length === 0 || region[1].length === 0 ? [] : [region];
  });
}
