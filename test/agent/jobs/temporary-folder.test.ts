import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { removeStaleFolders, temporaryFolderPath } from '../../../src/agent/jobs/temporary-folder.js';

describe('temporary folders', () => {
  test('folders of processes that have ended are removed, folders of running processes are kept', async () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const own = temporaryFolderPath();
    const stale = temporaryFolderPath().replace(`-${process.pid}-`, `-${ended}-`);
    for (const folder of [own, stale]) mkdirSync(folder);
    try {
      await removeStaleFolders();
      assert.deepEqual([existsSync(own), existsSync(stale)], [true, false]);
    } finally {
      for (const folder of [own, stale]) rmSync(folder, { recursive: true, force: true });
    }
  });
});
