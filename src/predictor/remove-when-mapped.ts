import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MappedFile } from './mapped-ranges.js';

/** Smaller weights are not worth a thread. */
const MIN_BYTES = 64 * 2 ** 20;

/** Pages have 4 KB, so that none has parts of two weights, and a mapped file is mapped for each of its weights. */
const KNOWS_PAGES = process.platform === 'linux' && process.arch === 'x64';

/**
 * Removes files of weights as soon as this process has mapped all of them. A runtime maps all weights, then packs one
 * after another into its own memory and unmaps it. The memory of a removed file is free when nothing of it is mapped,
 * so a large weight has a file of its own. Where a runtime works differently, nothing is removed.
 *
 * A thread does this, because the runtime blocks the calling thread; it is ready when the promise resolves.
 *
 * @returns a function that ends the watch
 */
export async function removeWhenMapped(files: readonly MappedFile[]): Promise<() => Promise<unknown>> {
  const bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (!KNOWS_PAGES || bytes < MIN_BYTES) return () => Promise.resolve();
  const thread = new Worker(new URL('./remove-thread.js', import.meta.url), { workerData: files });
  // A watch that fails removes nothing.
  thread.on('error', () => {});
  await once(thread, 'message').catch(() => {});
  return () => thread.terminate();
}
