/** What a table shows where a value is not known. */
export const UNKNOWN = '-';

/** Milliseconds with three significant digits and more, without exponents. */
export function formatMs(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  const text = value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3);
  return text === '-0.000' ? '0.000' : text;
}
