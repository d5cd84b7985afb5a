import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { type FileContent, writeContent, type WriteOptions } from './file-content.js';
import { isRunning } from './process-life.js';

/** A temporary file of another machine without a write for this long is abandoned. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Process ids have no meaning on another machine or in another container that shares the folder. */
export const HOST = hostname().replace(/[^A-Za-z0-9-]/g, '-');

/** Temporary names hold the writer's host and process, so that other processes can check whether it still runs. */
const TEMPORARY = /^\..+\.(?<host>[A-Za-z0-9-]*)\.(?<pid>\d+)\.[0-9a-f]{8}\.tmp$/;

/**
 * Others see the file whole or not at all: it is written under a temporary name in the same folder, flushed, then
 * renamed. Removes its temporary file when it fails, and those of killed processes.
 *
 * @throws the operating system's error, what the content throws, and PlatformError `cancelled`
 */
export async function writeFileAtomically(
  file: string,
  content: FileContent,
  options: WriteOptions = {},
): Promise<void> {
  const folder = path.dirname(file);
  await removeAbandoned(folder);
  const unique = randomBytes(4).toString('hex');
  const temporary = path.join(folder, `.${path.basename(file)}.${HOST}.${process.pid}.${unique}.tmp`);
  try {
    const handle = await open(temporary, 'wx');
    try {
      await writeContent(handle, content, options);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await flushFolder(folder);
}

/** Makes the rename itself survive a power cut. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  // A writable folder may not be readable.
  for (const name of await readdir(folder).catch(() => [])) {
    const writer = TEMPORARY.exec(name)?.groups;
    if (writer === undefined) continue;
    const temporary = path.join(folder, name);
    const isAbandoned = writer['host'] === HOST ? !isRunning(Number(writer['pid'])) : await isOld(temporary);
    if (isAbandoned) await rm(temporary, { force: true }).catch(() => undefined);
  }
}

async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS;
}
