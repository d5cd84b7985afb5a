import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

// The format is V8's, as Node.js writes it for the variable NODE_V8_COVERAGE.

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** The ranges of a module that processes counted, one list for each process. */
export type Counts = readonly (readonly Range[])[];

/**
 * Reads the coverage that Node.js wrote into the folder.
 *
 * @param base the address of the folder whose modules count, with a slash at its end
 * @returns by path from there
 */
export async function readCoverage(folder: string, base: string): Promise<ReadonlyMap<string, Counts>> {
  const coverage = new Map<string, (readonly Range[])[]>();
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: readonly Script[] };
    for (const { url, functions } of result) {
      if (!url.startsWith(base)) continue;
      const path = url.slice(base.length);
      const counts = coverage.get(path) ?? [];
      counts.push(functions.flatMap(({ ranges }) => ranges));
      coverage.set(path, counts);
    }
  }
  return coverage;
}

/** After a branch with an `await` that no process took, V8 counts 0 for the code behind it, too. */
function isAfterBranch({ startOffset, count }: Range, ranges: readonly Range[]): boolean {
  const gaps = ranges.flatMap((other) => (other.count === 0 ? [startOffset - other.endOffset] : []));
  return count === 0 && gaps.some((gap) => gap === 0 || gap === 1);
}

/** Whether a process executed the code at the offset. Of the ranges around it, the smallest one has the count. */
export function isExecuted(counts: Counts, offset: number): boolean {
  const size = ({ startOffset, endOffset }: Range): number => endOffset - startOffset;
  return counts.some((ranges) => {
    const around = ranges.filter((range) => {
      return range.startOffset <= offset && offset < range.endOffset && !isAfterBranch(range, ranges);
    });
    const smallest = around.reduce<Range | undefined>((least, range) => {
      return least === undefined || size(range) <= size(least) ? range : least;
    }, undefined);
    return (smallest?.count ?? 0) > 0;
  });
}
