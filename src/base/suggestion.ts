/** Comparing longer names would take long. */
const MAX_LENGTH = 64;

/** Optimal string alignment, the restricted form of the Damerau-Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replace, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, (beforePrevious[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? a.length;
}

/** Without what people often mix up. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/** Equal except for case and separators, at most a third of its letters wrong, or its beginning. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = plain(name);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of known) {
    const offered = plain(candidate);
    const distance = editDistance(wanted, offered);
    if (distance > Math.floor(offered.length / 3)) continue;
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best !== undefined) return best.candidate;
  return wanted.length < 3 ? undefined : known.find((candidate) => plain(candidate).startsWith(wanted));
}
