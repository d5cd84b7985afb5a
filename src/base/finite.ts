/** null where it is not known or not finite: stored values can be too large to add. */
export function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
