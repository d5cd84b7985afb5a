/** Footprints of more than this many last-level caches are all equivalent: everything is cold. */
const CACHES_WITHOUT_EFFECT = 1.5;

/** Size of the cache where the system does not state it. */
const ASSUMED_CACHE_BYTES = 32 * 2 ** 20;

/** Factor between two classes of footprints, and the smallest class. */
const STEP = 4;
const MIN_BYTES = 2 ** 20;

function coldFootprintBytes(cacheBytes: number): number {
  return Math.round(CACHES_WITHOUT_EFFECT * (cacheBytes > 0 ? cacheBytes : ASSUMED_CACHE_BYTES));
}

/** Whether no cache holds anything between two runs of a model with this footprint. */
export function isColdFootprint(bytes: number, cacheBytes: number): boolean {
  return bytes >= coldFootprintBytes(cacheBytes);
}

/**
 * The class of a footprint, so that models of similar size share measurements: 1 MiB, 4 MiB, 16 MiB and so on, and one
 * class for all footprints that exceed the caches.
 *
 * @param bytes bytes that a model touches in one run
 * @param cacheBytes last-level cache; 0 where it is not known
 */
export function footprintClass(bytes: number, cacheBytes: number): number {
  const cold = coldFootprintBytes(cacheBytes);
  const classes = [cold];
  for (let size = MIN_BYTES; size * STEP <= cold; size *= STEP) classes.push(size);
  const distance = (size: number): number => Math.abs(Math.log(size / Math.max(1, bytes)));
  return bytes >= cold ? cold : classes.reduce((best, size) => (distance(size) < distance(best) ? size : best));
}
