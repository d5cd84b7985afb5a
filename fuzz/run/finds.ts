import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Case } from './case.js';

export function nameOf({ target, seed }: Case): string {
  return `${target}:${seed}`;
}

/** The case of a name; undefined for an invalid name. */
export function caseOf(name: string): Case | undefined {
  const [, target, seed] = /^([a-z]+):(\d+)$/.exec(name) ?? [];
  return target === undefined || seed === undefined ? undefined : { target, seed: Number(seed) };
}

/** Key of a find's cause: the target, and the problem's first line without numbers and quoted texts. */
export function causeOf({ target }: Case, problem: string): string {
  const [line = ''] = problem.split('\n');
  return `${target} ${line.replace(/"[^"]*"|'[^']*'|\d+/g, '_').slice(0, 80)}`;
}

/** Saves an input that fails, and its problem. @returns the folder */
export async function keepFind(out: string, one: Case, input: Uint8Array, problem: string): Promise<string> {
  const folder = join(out, `${one.target}-${one.seed}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'input'), input);
  await writeFile(join(folder, 'problem.txt'), `make fuzz SEED=${nameOf(one)}\n\n${problem}\n`);
  return folder;
}
