/**
 * xoshiro128++ (Blackman and Vigna, 2018) passes BigCrush, and needs only 32-bit integers, so it is the same on every
 * machine. Its state is spread from the seed with splitmix32.
 */
export function xoshiro128pp(seed: number): () => number {
  const state = new Int32Array(4);
  let spread = seed | 0;
  for (let i = 0; i < 4; i++) {
    spread = (spread + 0x9e3779b9) | 0;
    let z = spread;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    state[i] = z ^ (z >>> 16);
  }
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  return () => {
    const sum = (a + d) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + a) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result;
  };
}

/** A number from [0, 1) with 53 random bits. */
export function uniform(next: () => number): number {
  return ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}
