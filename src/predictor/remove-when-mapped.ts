import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MappedFile } from './mapped-ranges.js';

/** Smaller weights are not worth a thread. */
const MIN_BYTES = 64 * 2 ** 20;

/**
 * Whether pages have 4 KB, so that no page has parts of two weights. A file that is mapped completely is then mapped
 * for each of its weights.
 */
const KNOWS_PAGES = process.platform === 'linux' && process.arch === 'x64';

/**
 * Removes files of weights as soon as this process has mapped all of them. A runtime maps all weights, and then packs
 * one after another into its own memory and unmaps it. The memory of a removed file is free when no part of the file is
 * mapped. So a large weight has a file of its own: its memory is free when this weight is packed, not only when all
 * weights are packed. Where a runtime works differently, nothing is removed.
 *
 * A thread does this, because the runtime blocks the calling thread meanwhile. The thread is ready when the promise
 * resolves.
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
