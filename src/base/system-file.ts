import { readFileSync } from 'node:fs';

/** undefined for a missing file. */
export type ReadSystemFile = (path: string) => string | undefined;

export function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
