import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from './targets.js';

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** The files of the folders, and of those in them, whose names end so, sorted. */
function filesAt(folders: readonly string[], ending: string): readonly string[] {
  const files = folders.flatMap((folder) => {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  });
  return files.filter((file) => file.endsWith(ending)).sort();
}

/** @param only paths to look at; none stand for all */
export function sourceFiles({ code, exceptCode = [] }: Target, only: readonly string[]): readonly string[] {
  const files = filesAt(code, '.ts').filter((file) => !isWithin(file, exceptCode));
  return only.length === 0 ? files : files.filter((file) => isWithin(file, only));
}

export function testFiles({ tests, exceptTests = [] }: Target): readonly string[] {
  return filesAt(tests, '.test.ts').filter((file) => !isWithin(file, exceptTests));
}
