import { readFileSync } from 'node:fs';

/** Contents of the operating system's files; undefined for a missing one. */
export type ReadSystemFile = (path: string) => string | undefined;

export function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
