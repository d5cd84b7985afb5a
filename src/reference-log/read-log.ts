import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { isInside } from '../base/is-inside.js';
import { readRegularFile } from '../base/regular-file.js';
import { checkedYamlFile } from '../manifest/validate.js';
import { DISK, type ManifestFiles } from '../manifest/files.js';
import { computeChecksum, type Log, logSchema, SECTIONS } from './log-schema.js';

const MAX_LOG_BYTES = 32 * 2 ** 20;

/** A thousand layers take two thousand values, a thousand bricks twelve. */
const MAX_LOG_EVENTS = 1_000_000;

/** @throws PlatformError `manifest` with the places of the problems */
export function logIn(path: string, bytes: Uint8Array): Log {
  return checkedYamlFile(path, bytes, logSchema, MAX_LOG_EVENTS).data;
}

function isOfLog(bytes: Uint8Array): boolean {
  return /^\s*(?:\{\s*)?["']?dlspec["']?:\s*["']?log\//m.test(Buffer.from(bytes.subarray(0, 1000)).toString());
}

/** @throws PlatformError `not_found` where there is no such file, `manifest` for another one, and as {@link logIn} */
export async function readLog(path: string): Promise<Log> {
  const file = await readRegularFile(path, MAX_LOG_BYTES);
  const expected = `${path}: expected a log that --log wrote, found`;
  if (!file.ok) throw new PlatformError('not_found', `${expected} ${file.found}`);
  if (!isOfLog(file.bytes)) throw new PlatformError('manifest', `${expected} another file (no dlspec: log/v1)`);
  return logIn(path, file.bytes);
}

export async function isLog(path: string): Promise<boolean> {
  const file = await readRegularFile(path, MAX_LOG_BYTES);
  return file.ok && isOfLog(file.bytes);
}

export function editedSections(log: Log): readonly string[] {
  return SECTIONS.filter((section) => log.checksums[section] !== computeChecksum(log[section]));
}

const OUTSIDE = "a file outside of the log's folder, which is not opened";

/** Also where links are followed. */
async function isReallyInside(folder: string, path: string): Promise<boolean> {
  return isInside(await realpath(folder), await realpath(path).catch(() => path));
}

/** Nothing outside of the folder is opened. */
export function filesOf(folder: string, written: ReadonlyMap<string, Uint8Array>): ManifestFiles {
  return {
    async read(path) {
      const bytes = written.get(path);
      if (bytes !== undefined) return { ok: true, bytes };
      return (await isReallyInside(folder, path)) ? DISK.read(path) : { ok: false, found: OUTSIDE };
    },
    async missing(path) {
      return (await isReallyInside(folder, path)) ? DISK.missing(path) : OUTSIDE;
    },
  };
}

export function evaluationPath(log: string, index: number): string {
  return join(dirname(log), `log-evaluation-${index + 1}.yml`);
}

/** SHA-256; words where the manifest is not there. */
export async function manifestAt(
  log: string,
  file: string,
): Promise<{ readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly found: string }> {
  return filesOf(dirname(log), new Map()).read(join(dirname(log), file));
}
