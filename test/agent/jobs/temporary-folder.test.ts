import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import {
  removeStaleFolders,
  removeTemporaryFolders,
  temporaryFolderPath,
} from '../../../src/agent/jobs/temporary-folder.js';
import { inMemory } from '../../../src/predictor/memory-folder.js';

describe('temporary folders', () => {
  test('of processes of this machine that have ended are removed, also those in memory, and no others', async () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const own = temporaryFolderPath();
    const stale = temporaryFolderPath().replace(`-${process.pid}-`, `-${ended}-`);
    const ofOther = stale.replace('mlmodelscope-', 'mlmodelscope-other-');
    // Only Linux has a folder in memory.
    const both = (folder: string) => (existsSync(dirname(inMemory(folder))) ? [folder, inMemory(folder)] : [folder]);
    const kept = [own, ofOther].flatMap(both);
    const removed = both(stale);
    for (const folder of [...kept, ...removed]) mkdirSync(folder, { recursive: true });
    try {
      await removeStaleFolders();
      const left = [...kept, ...removed].filter((folder) => existsSync(folder));
      assert.deepEqual(left, kept);
      removeTemporaryFolders(own);
      assert.deepEqual([existsSync(own), existsSync(inMemory(own))], [false, false]);
    } finally {
      for (const folder of [...kept, ...removed]) rmSync(folder, { recursive: true, force: true });
    }
  });
});
