import { z } from 'zod';

/** Digests of the files that were fetched for the manifests beside it. */
export const LOCK_FILE = 'models-lock.json';

const pinSchema = z.object({
  /** For a file of an archive, the archive's. */
  url: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
});

const lockSchema = z.object({
  version: z.literal(1),
  files: z.record(z.string(), pinSchema),
  /** SHA-256 by the references of an evaluation. */
  manifests: z.record(z.string(), pinSchema.shape.sha256).optional(),
});

export type Pin = Readonly<z.output<typeof pinSchema>>;

/** By path, relative to the lock file's folder. */
export type Lock = ReadonlyMap<string, Pin>;

export function parseLock(bytes: Uint8Array): Lock | undefined {
  try {
    const { files } = lockSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return new Map(Object.entries(files));
  } catch {
    return undefined;
  }
}

/** SHA-256 by the references of the evaluation beside the lock file; none of an invalid file. */
export function manifestPinsIn(bytes: Uint8Array): ReadonlyMap<string, string> {
  try {
    const { manifests = {} } = lockSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return new Map(Object.entries(manifests));
  } catch {
    return new Map();
  }
}

function sortedObject<T>(entries: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function lockText(lock: Lock, pinned: ReadonlyMap<string, string> = new Map()): string {
  const files = sortedObject(lock);
  const manifests = pinned.size === 0 ? undefined : sortedObject(pinned);
  return `${JSON.stringify({ version: 1, files, manifests } satisfies z.input<typeof lockSchema>, null, 2)}\n`;
}
