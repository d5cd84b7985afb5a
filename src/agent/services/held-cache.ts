import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../base/atomic-file.js';
import { xoshiro128pp } from '../../base/random.js';

// A virtual machine may state the cache of its whole host, which other machines use as well: 260 MB where 64 MB did not
// fit. So a large stated cache is checked by dependent reads, three to five times as long in memory as in a cache.

const MIB = 2 ** 20;

/** Larger caches are checked. */
const MAX_BELIEVED_BYTES = 64 * MIB;

/** What one core of a shared host has at least. */
const MIN_BYTES = 32 * MIB;

/** A working set that every such cache holds. */
const REFERENCE_BYTES = 8 * MIB;

/** Reads take at most this many times as long in a cache as in one that surely holds the working set. */
const MAX_SLOWER = 2;

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
    [order[line], order[other]] = [order[other] ?? 0, order[line] ?? 0];
  }
  const next = new Int32Array(lines * step);
  for (const [line, target] of order.entries()) next[line * step] = target * step;
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

/** The stated size, or its largest half, quarter and so on in which reads are as fast as in a small working set. */
export function heldCacheBytes(statedBytes: number, readNs: (bytes: number) => number = dependentReadNs): number {
  if (statedBytes <= MAX_BELIEVED_BYTES) return statedBytes;
  const limit = readNs(REFERENCE_BYTES) * MAX_SLOWER;
  let bytes = statedBytes;
  while (bytes > MIN_BYTES && readNs(bytes / 2) > limit) bytes /= 2;
  return Math.max(MIN_BYTES, bytes);
}

const knownSchema = z.strictObject({ stated_bytes: z.number(), processor: z.string(), held_bytes: z.number() });

/** Measured once per machine and kept: a system with another cache is another system. Without the folder, as stated. */
export async function knownHeldCacheBytes(
  { cacheBytes, processor }: { readonly cacheBytes: number; readonly processor: string },
  folder: string,
  measure: (statedBytes: number) => number = heldCacheBytes,
): Promise<number> {
  if (cacheBytes <= MAX_BELIEVED_BYTES) return cacheBytes;
  const path = join(folder, 'last-level-cache.json');
  try {
    const known = knownSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    if (known.stated_bytes === cacheBytes && known.processor === processor) return known.held_bytes;
  } catch {
    // It was never measured, or by another version.
  }
  const heldBytes = measure(cacheBytes);
  const measured: z.input<typeof knownSchema> = { stated_bytes: cacheBytes, processor, held_bytes: heldBytes };
  try {
    await mkdir(folder, { recursive: true });
    await writeFileAtomically(path, JSON.stringify(measured));
    return heldBytes;
  } catch {
    return cacheBytes;
  }
}
