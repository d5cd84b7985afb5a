export interface ClassScore {
  readonly index: number;
  /** A probability if the model or a softmax step makes one. */
  readonly score: number;
}

/** exp(x) / sum(exp(x)), without overflow. */
export function softmax(scores: ArrayLike<number>): Float64Array {
  const values = Float64Array.from(scores);
  const highest = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const powers = values.map((value) => Math.exp(value - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** NaN comes last, and equal scores keep their order. */
function byScore(a: ClassScore, b: ClassScore): number {
  const [left, right] = [a.score, b.score].map((score) => (Number.isNaN(score) ? -Infinity : score)) as [
    number,
    number,
  ];
  return left === right ? a.index - b.index : left > right ? -1 : 1;
}

/** The highest first. */
export function topK(scores: ArrayLike<number>, k: number): readonly ClassScore[] {
  return Array.from(scores, (score, index): ClassScore => ({ index, score }))
    .sort(byScore)
    .slice(0, k);
}
