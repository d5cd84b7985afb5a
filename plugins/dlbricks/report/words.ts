export const UNKNOWN = '-';

/** Three significant digits and more where a table has room, without exponents. */
export function formatMs(value: number | null): string {
  if (value === null) return UNKNOWN;
  return value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3);
}

export function percent(value: number | null, digits = 1): string {
  return value === null ? UNKNOWN : `${value.toFixed(digits)} %`;
}

/** A ratio in percent; not known where it is to 0 or not finite. */
export function relative(difference: number, to: number): string {
  const share = difference / to;
  return Number.isFinite(share) ? percent(share * 100) : UNKNOWN;
}
