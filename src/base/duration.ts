const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

export const DURATION_EXAMPLES = '20ms, 90s, 30m, 12h, 7d or 4w';

/** undefined for a text that is no duration. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})(ms|[smhdw])$/.exec(text) ?? [];
  const unitMs = UNITS_MS.get(unit ?? '');
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs;
}
