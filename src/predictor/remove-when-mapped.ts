import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Data of the thread that watches. */
export interface WatchedFile {
  readonly path: string;
  readonly byteLength: number;
}

/** Smaller files are not worth a thread. */
const LEAST_BYTES = 64 * 2 ** 20;

/**
 * Where pages are of 4 KB, so that no page has the ends of two weights: a file that is mapped whole has been opened for
 * each of them.
 */
const KNOWS_PAGES = process.platform === 'linux' && process.arch === 'x64';

/**
 * Removes a file of weights as soon as this process has mapped all of it. A runtime maps all weights, and then packs one
 * after another into memory of its own and lets go of its mapping. So the memory of each is free again when it is packed,
 * and not only when all are. Where the runtime does otherwise, nothing happens.
 *
 * A thread does it, since the runtime does not return before. It is ready when this resolves.
 *
 * @returns ends the watch
 */
export async function removeWhenMapped(file: WatchedFile): Promise<() => Promise<unknown>> {
  if (!KNOWS_PAGES || file.byteLength < LEAST_BYTES) return () => Promise.resolve();
  const thread = new Worker(new URL('./remove-thread.js', import.meta.url), { workerData: file });
  // A watch that fails removes nothing.
  thread.on('error', () => {});
  await once(thread, 'message').catch(() => {});
  return () => thread.terminate();
}
