import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { z } from 'zod';
import type { Mutant } from './mutant.js';

const acceptedSchema = z.record(
  z.string(),
  z.array(z.strictObject({ reason: z.string().min(1), mutants: z.array(z.string()).min(1) })),
);

/** The mutants that may survive, by source file; each has a reason in the file. */
export type Accepted = ReadonlyMap<string, ReadonlySet<string>>;

/** @throws Error for an invalid file */
export async function readAccepted(path: string): Promise<Accepted> {
  const files = acceptedSchema.parse(load(await readFile(path, 'utf8')));
  return new Map(
    Object.entries(files).map(([file, groups]) => [file, new Set(groups.flatMap(({ mutants }) => mutants))]),
  );
}

export function isAccepted(accepted: Accepted, { file, description }: Mutant): boolean {
  return accepted.get(file)?.has(description) ?? false;
}
