/** A latency that a share of the queries must not exceed, written 20ms@p99. */
export interface Bound {
  readonly ms: number;
  readonly share: number;
}

export const BOUND_EXAMPLES = '20ms@p99 or 1.5s@p90';

export function parseBound(text: string): Bound | undefined {
  const [, number, unit, percentage] = /^(\d*\.?\d+)(ms|s)@p(\d{1,2}(?:\.\d{1,3})?)$/.exec(text) ?? [];
  const ms = Number(number) * (unit === 's' ? 1000 : 1);
  const share = Number(`${percentage}e-2`);
  return ms > 0 && ms <= 3_600_000 && share > 0 ? { ms, share } : undefined;
}
