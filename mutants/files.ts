import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from './targets.js';

const TEST_FILE = '.test.ts';

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** The files in the folder and its subfolders whose names have the ending, sorted. */
function filesIn(folder: string, ending: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return files.filter((file) => file.endsWith(ending)).sort();
}

/** @param only paths to mutate; an empty list stands for all */
export function sourceFiles({ code, exceptCode = [] }: Target, only: readonly string[]): readonly string[] {
  const files = filesIn(code, '.ts').filter((file) => !isWithin(file, exceptCode));
  return only.length === 0 ? files : files.filter((file) => isWithin(file, only));
}

export function testFiles({ tests, exceptTests = [] }: Target): readonly string[] {
  const files = tests.flatMap((path) => (path.endsWith(TEST_FILE) ? [path] : filesIn(path, TEST_FILE)));
  return files.filter((file) => !isWithin(file, exceptTests));
}
