/** A model that touches more than this many last-level caches in one run finds nothing in them in its next run. */
const CACHES_OF_COLD_MODELS = 1.5;

/** Between two runs of such a brick: caches kept a part of 1.5, and a MatMul of 16 MiB was 2 to 5 % too fast. */
const CACHES_OF_COLD_COMPOSITES = 4;
const MAX_COLD_BYTES = 256 * 2 ** 20;

/** Size of the cache where the system does not state it. */
export const ASSUMED_CACHE_BYTES = 32 * 2 ** 20;

/** Factor between two classes of footprints, and the smallest class. */
const STEP = 4;
const MIN_BYTES = 2 ** 16;

/** A model may touch at most this many times as much as its class. */
const MAX_EXCESS = Math.SQRT2;

/** The footprint from which on everything is cold. */
function leastColdBytes(cacheBytes: number): number {
  return Math.round(CACHES_OF_COLD_MODELS * (cacheBytes > 0 ? cacheBytes : ASSUMED_CACHE_BYTES));
}

/** Whether no cache holds anything between two runs of a model with this footprint. */
export function isColdFootprint(bytes: number, cacheBytes: number): boolean {
  return bytes >= leastColdBytes(cacheBytes);
}

/**
 * So that models of similar size share measurements: 64 KiB, 256 KiB, 1 MiB and so on, then the size from which on
 * everything is cold, and one class for all larger ones.
 *
 * @param cacheBytes last-level cache; 0 where it is not known
 */
export function footprintClass(bytes: number, cacheBytes: number): number {
  const cold = leastColdBytes(cacheBytes);
  const coldest = Math.max(
    cold,
    Math.min(MAX_COLD_BYTES, Math.round((cold * CACHES_OF_COLD_COMPOSITES) / CACHES_OF_COLD_MODELS)),
  );
  if (bytes >= cold) return coldest;
  let size = MIN_BYTES;
  while (size * MAX_EXCESS < bytes && size * STEP < cold) size *= STEP;
  return size * MAX_EXCESS < bytes ? cold : size;
}
