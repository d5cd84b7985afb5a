import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../base/atomic-file.js';
import { minOf } from '../../base/long-lists.js';
import { xoshiro128pp } from '../../base/random.js';

// A virtual machine may state the cache of its whole host, which other machines use as well: 260 MB where 64 MB did not
// fit. So a large stated cache is checked by dependent reads.

const MIB = 2 ** 20;

/** Smaller caches are believed. A part that is smaller is not looked for: neighbours change it from minute to minute. */
const MIN_CHECKED_BYTES = 64 * MIB;

/** What one core of a shared host has at least. */
const MIN_BYTES = 32 * MIB;

/** Fits into the second-level cache, which no other core uses. */
const REFERENCE_BYTES = MIB / 2;

/** A read of a last-level cache takes 4 to 8 times as long as the reference, and one of memory 16 to 30 times. */
const MAX_SLOWER = 12;

/** Bytes of a cache line on all processors that the runtimes have kernels for. */
const LINE_BYTES = 64;
const READS = 200_000;
const ROUNDS = 3;

/** Nanoseconds of a read that depends on the one before, at random lines of a working set of this size. */
export function dependentReadNs(bytes: number): number {
  const lines = Math.floor(bytes / LINE_BYTES);
  const step = LINE_BYTES / Int32Array.BYTES_PER_ELEMENT;
  const order = Int32Array.from({ length: lines }, (_, line) => line);
  const random = xoshiro128pp(1);
  // Sattolo's algorithm makes one cycle through all lines.
  for (let line = lines - 1; line > 0; line--) {
    const other = random() % line;
    const swapped = order[line] ?? 0;
    order[line] = order[other] ?? 0;
    order[other] = swapped;
  }
  const next = new Int32Array(lines * step);
  for (let line = 0; line < lines; line++) next[line * step] = (order[line] ?? 0) * step;
  let at = 0;
  let fastest = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    for (let line = 0; line < next.length; line += step) at ^= next[line] ?? 0;
    at = 0;
    const start = process.hrtime.bigint();
    for (let reads = 0; reads < READS; reads++) at = next[at] ?? 0;
    fastest = Math.min(fastest, Number(process.hrtime.bigint() - start) / READS);
    if (at < 0) throw new Error('a working set has no negative place');
  }
  return fastest;
}

/**
 * The stated size, its half, quarter and so on, of which a half is read as from a cache; 32 MiB where not even 64 MiB
 * are held. The smallest comes first, because most virtual machines hold no more than that.
 */
export function heldCacheBytes(statedBytes: number, readNs: (bytes: number) => number = dependentReadNs): number {
  if (statedBytes <= MIN_CHECKED_BYTES) return statedBytes;
  // The first calls also compile the function.
  const limitNs = minOf([1, 2, 3].map(() => readNs(REFERENCE_BYTES))) * MAX_SLOWER;
  let parts = 1;
  while (statedBytes / (parts * 2) >= MIN_CHECKED_BYTES) parts *= 2;
  let heldBytes = MIN_BYTES;
  for (; parts >= 1 && readNs(statedBytes / parts / 2) <= limitNs; parts /= 2) heldBytes = statedBytes / parts;
  return heldBytes;
}

const knownSchema = z.strictObject({
  stated_bytes: z.number(),
  processor: z.string(),
  held_bytes: z.number(),
  /** Results of another reference do not count. */
  reference_bytes: z.literal(REFERENCE_BYTES),
});

async function readKnown(path: string): Promise<z.output<typeof knownSchema> | undefined> {
  try {
    return knownSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    // It was never measured, or by another version.
    return undefined;
  }
}

/**
 * Measured once per machine and kept: a system with another cache is another system. Of agents that start at the same
 * time, the result of the first counts for all. Without the folder, as stated.
 */
export async function knownHeldCacheBytes(
  { cacheBytes, processor }: { readonly cacheBytes: number; readonly processor: string },
  folder: string,
  measure: (statedBytes: number) => number = heldCacheBytes,
): Promise<number> {
  if (cacheBytes <= MIN_CHECKED_BYTES) return cacheBytes;
  const path = join(folder, 'last-level-cache.json');
  const known = async (): Promise<number | undefined> => {
    const kept = await readKnown(path);
    return kept?.stated_bytes === cacheBytes && kept.processor === processor ? kept.held_bytes : undefined;
  };
  const before = await known();
  if (before !== undefined) return before;
  const heldBytes = measure(cacheBytes);
  const meanwhile = await known();
  if (meanwhile !== undefined) return meanwhile;
  const measured: z.input<typeof knownSchema> = {
    stated_bytes: cacheBytes,
    processor,
    held_bytes: heldBytes,
    reference_bytes: REFERENCE_BYTES,
  };
  try {
    await mkdir(folder, { recursive: true });
    await writeFileAtomically(path, JSON.stringify(measured));
    return heldBytes;
  } catch {
    return cacheBytes;
  }
}
