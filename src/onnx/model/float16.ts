const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The bits of the float16 nearest to a float32, ties to even; IEEE 754-2019, binary16. */
export function float16Bits(value: number): number {
  float[0] = value;
  const word = bits[0] ?? 0;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return sign | 0x7e00;
  // From 65520 up, half a step above the largest finite number, the result is infinite.
  if (magnitude >= 0x477f_f000) return sign | 0x7c00;
  if (magnitude >= 0x3880_0000) {
    const rounding = 0xfff + ((magnitude >>> 13) & 1);
    return sign | ((magnitude - 0x3800_0000 + rounding) >>> 13);
  }
  // Below 2^-14, numbers are multiples of 2^-24.
  const count = Math.abs(float[0]) * 2 ** 24;
  const low = Math.floor(count);
  const rest = count - low;
  return sign | (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low);
}

export function fromFloat16Bits(word: number): number {
  const sign = (word & 0x8000) === 0 ? 1 : -1;
  const exponent = (word >>> 10) & 0x1f;
  const fraction = word & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
