const WORDS = (
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was ' +
  'will with Amsterdam machine learning Model layer tensor latency benchmark 2026 3.14 e-mail international'
).split(' ');

export function words(count: number, seed: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => WORDS[(seed * 7 + at * 5) % WORDS.length] ?? '');
}
