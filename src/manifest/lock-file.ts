import { z } from 'zod';

/** The file beside manifests with the digests of the files that were fetched for them. */
export const LOCK_FILE = 'models-lock.json';

const pinSchema = z.object({
  /** Where it came from; for a file of an archive, where the archive came from. */
  url: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
});

const lockSchema = z.object({ version: z.literal(1), files: z.record(z.string(), pinSchema) });

/** A file as it was when it was first fetched. */
export type Pin = Readonly<z.output<typeof pinSchema>>;

/** Pins by paths, as seen from the folder of the lock file. */
export type Lock = ReadonlyMap<string, Pin>;

/** The pins of a lock file; undefined where it is not one. */
export function parseLock(bytes: Uint8Array): Lock | undefined {
  try {
    const parsed = lockSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return parsed.success ? new Map(Object.entries(parsed.data.files)) : undefined;
  } catch {
    return undefined;
  }
}

/** The lock file with these pins. */
export function lockText(lock: Lock): string {
  const files = Object.fromEntries([...lock].sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version: 1, files } satisfies z.input<typeof lockSchema>, null, 2)}\n`;
}
