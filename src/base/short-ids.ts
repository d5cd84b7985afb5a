import { maxOf } from './long-lists.js';

/** Ids with fewer digits are easily the same as ids that are added later. */
const MIN_DIGITS = 8;

/** Shortens ids to the fewest digits that distinguish them, at least 8. */
export function shortIds(ids: Iterable<string>): (id: string) => string {
  const different = [...new Set(ids)];
  const longest = Math.max(MIN_DIGITS, maxOf(different.map((id) => id.length)));
  let digits = MIN_DIGITS;
  while (digits < longest && new Set(different.map((id) => id.slice(0, digits))).size < different.length) digits++;
  return (id) => id.slice(0, digits);
}
