import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from '../support/lifetime.js';

/** A new folder that is deleted after the test. */
export async function temporaryFolder(t: Lifetime): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'store-test-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
