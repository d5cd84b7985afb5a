import { likelyLengths, longestRun, type RepeatedBlocks } from './find-blocks.js';

/** Bounds the time for graphs that were made to be slow. */
const MAX_DEPTH = 6;

function longestRepeat(labels: readonly number[]): RepeatedBlocks | undefined {
  return (
    likelyLengths(labels)
      .map((length) => longestRun(labels, length))
      .map(({ first, end, length }) => ({ first, length, count: Math.floor((end - first) / length) }))
      // One thing that repeats is no block.
      .filter(({ first, length, count }) => count > 1 && new Set(labels.slice(first, first + length)).size > 1)
      .sort((a, b) => b.count * b.length - a.count * a.length || a.length - b.length)[0]
  );
}

/** Repeats such as the layers of a decoder, in their order; the longest are found first. */
export function repeatsIn(labels: readonly number[], depth = MAX_DEPTH): readonly RepeatedBlocks[] {
  const longest = depth === 0 ? undefined : longestRepeat(labels);
  if (longest === undefined) return [];
  const { first, length, count } = longest;
  const end = first + length * count;
  const after = repeatsIn(labels.slice(end), depth - 1);
  return [
    ...repeatsIn(labels.slice(0, first), depth - 1),
    longest,
    ...after.map((repeat) => ({ ...repeat, first: repeat.first + end })),
  ];
}
