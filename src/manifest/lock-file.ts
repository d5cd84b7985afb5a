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
  manifests: z.record(z.string(), pinSchema.shape.sha256).optional(),
});

export type Pin = Readonly<z.output<typeof pinSchema>>;

export interface Lock {
  /** By path, relative to the lock file's folder. */
  readonly files: ReadonlyMap<string, Pin>;
  /** SHA-256 by the references of the evaluation beside the lock file. */
  readonly manifests: ReadonlyMap<string, string>;
}

export const EMPTY_LOCK: Lock = { files: new Map(), manifests: new Map() };

export function parseLock(bytes: Uint8Array): Lock | undefined {
  try {
    const { files, manifests = {} } = lockSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return { files: new Map(Object.entries(files)), manifests: new Map(Object.entries(manifests)) };
  } catch {
    return undefined;
  }
}

function sortedObject<T>(entries: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function lockText({ files, manifests }: Lock): string {
  const lock: z.input<typeof lockSchema> = {
    version: 1,
    files: sortedObject(files),
    manifests: manifests.size === 0 ? undefined : sortedObject(manifests),
  };
  return `${JSON.stringify(lock, null, 2)}\n`;
}
