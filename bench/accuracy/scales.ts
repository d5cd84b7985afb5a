import { roundStep, type Scale } from '../../src/web/plots/svg.js';

/** Ticks at 1, 2 and 5 times powers of ten. */
export function logScale(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const low = Math.min(...values) / 1.25;
  const high = Math.max(...values) * 1.25;
  const span = Math.log(high / low);
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    ticks.push(...[1, 2, 5].map((factor) => factor * 10 ** power));
  }
  return {
    at: (value) => from + ((to - from) * Math.log(value / low)) / span,
    ticks: ticks.filter((tick) => tick >= low && tick <= high),
  };
}

/** From one value below zero, or zero, to one above; about six round ticks. */
export function signedScale(
  [lowest, highest]: readonly [number, number],
  [from, to]: readonly [number, number],
): Scale {
  const step = roundStep((highest - lowest) / 6);
  const first = Math.floor(lowest / step);
  const last = Math.ceil(highest / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { at: (value) => from + ((to - from) * (value - first * step)) / ((last - first) * step), ticks };
}
