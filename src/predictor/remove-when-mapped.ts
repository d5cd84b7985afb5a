import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MappedFile } from './mapped-ranges.js';

/** Smaller weights are not worth a thread. */
const LEAST_BYTES = 64 * 2 ** 20;

/**
 * Whether pages are of 4 KB, so that no page has the ends of two weights: a file that is mapped whole has been opened for
 * each of them.
 */
const KNOWS_PAGES = process.platform === 'linux' && process.arch === 'x64';

/**
 * Removes files of weights as soon as this process has mapped all of them. A runtime maps all weights, and then packs one
 * after another into memory of its own and lets go of its mapping. The memory of a removed file is free when nothing of it
 * is mapped any more, so a large weight has a file of its own: its memory is free when it is packed, and not only when all
 * are. Where the runtime does otherwise, nothing happens.
 *
 * A thread does it, since the runtime does not return before. It is ready when this resolves.
 *
 * @returns ends the watch
 */
export async function removeWhenMapped(files: readonly MappedFile[]): Promise<() => Promise<unknown>> {
  const bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (!KNOWS_PAGES || bytes < LEAST_BYTES) return () => Promise.resolve();
  const thread = new Worker(new URL('./remove-thread.js', import.meta.url), { workerData: files });
  // A watch that fails removes nothing.
  thread.on('error', () => {});
  await once(thread, 'message').catch(() => {});
  return () => thread.terminate();
}
