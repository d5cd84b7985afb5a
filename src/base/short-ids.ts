/** Fewer digits are easily mistaken for others that come later. */
const LEAST_DIGITS = 8;

/** A function that shortens these ids to as many digits as tell them apart, 8 at least. */
export function shortIds(ids: Iterable<string>): (id: string) => string {
  const different = [...new Set(ids)];
  const longest = Math.max(LEAST_DIGITS, ...different.map((id) => id.length));
  let digits = LEAST_DIGITS;
  while (digits < longest && new Set(different.map((id) => id.slice(0, digits))).size < different.length) digits++;
  return (id) => id.slice(0, digits);
}
