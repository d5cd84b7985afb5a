import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from '../support/lifetime.js';

/**
 * A new folder that is deleted after the test. The test runner undoes what a test made in the order in which it was made,
 * so other processes may still write to the folder: deleting it is tried for some seconds.
 * @param end ends the processes that write to the folder for as long as they live
 */
export async function temporaryFolder(t: Lifetime, end?: () => Promise<void>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'store-test-'));
  t.after(async () => {
    await end?.();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}
