/** Two-sided and exact, for whole `degrees` from 1. Source: Abramowitz and Stegun (1964), 26.7.3 and 26.7.4. */
export function studentTail(t: number, degrees: number): number {
  const angle = Math.atan(Math.abs(t) / Math.sqrt(degrees));
  const sine = Math.sin(angle);
  const cosine = Math.cos(angle);
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k < degrees; k += 2) {
    term *= ((k - 1) / k) * cosine ** 2;
    sum += term;
  }
  const inside = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return Math.max(0, 1 - inside);
}

/** Half of 95 % of a normal distribution in standard deviations. */
export const Z_95 = 1.96;

/** Halvings of a bracket: the quantile is then as exact as a number can be. */
const HALVINGS = 80;

/** Half of a two-sided interval in standard errors. @param tail the probability outside, between 0 and 1 */
export function studentWidth(tail: number, degrees: number): number {
  let low = 0;
  let high = 1;
  while (studentTail(high, degrees) > tail) high *= 2;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (studentTail(middle, degrees) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
