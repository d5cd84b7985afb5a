import { randomUUID } from 'node:crypto';
import { access, constants, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CommandHost, makeFolder, messageOf, PlatformError } from '../../../src/plugin-api.js';
import { EXPORTERS, type ExportFormat } from '../report/exporter.js';
import type { Report } from '../report/report.js';
import { toTable } from '../report/table.js';
import type { PlaceOptions } from './options.js';

const STANDARD_OUTPUT = '-';

interface Export {
  readonly format: ExportFormat;
  readonly path: string;
}

/** Where the results of a command go; checked before anything is measured. */
export interface Outputs {
  readonly exports: readonly Export[];
  readonly quiet: boolean;
}

function unwritable(path: string, error: unknown): PlatformError {
  return new PlatformError(
    'storage',
    `${path} cannot be written: ${messageOf(error)}; name another file, or make room`,
    { cause: error },
  );
}

/**
 * Takes the export options and makes sure that the files can be written, so that no measurement is lost to a typing
 * error. Missing folders are made.
 *
 * @throws PlatformError `usage` for two exports to standard output, `storage` for a file that cannot be written
 */
export async function prepareOutputs(options: PlaceOptions): Promise<Outputs> {
  const paths: Record<ExportFormat, string | undefined> = {
    json: options.exportJson,
    csv: options.exportCsv,
    markdown: options.exportMarkdown,
  };
  const exports = (Object.keys(paths) as ExportFormat[]).flatMap((format): Export[] => {
    const path = paths[format];
    return path === undefined ? [] : [{ format, path }];
  });
  if (exports.filter(({ path }) => path === STANDARD_OUTPUT).length > 1) {
    throw new PlatformError('usage', 'only one export can go to standard output; give the others a file name');
  }
  for (const { path } of exports) {
    if (path === STANDARD_OUTPUT) continue;
    try {
      makeFolder(dirname(path));
      await access(dirname(path), constants.W_OK);
    } catch (error) {
      throw unwritable(path, error);
    }
    const existing = await stat(path).catch(() => undefined);
    if (existing?.isDirectory()) throw new PlatformError('storage', `${path} is a folder; name a file`);
  }
  return { exports, quiet: options.quiet ?? false };
}

/** Writes under a temporary name first, so that a reader never sees half a file. Devices are written directly. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const temporary = join(dirname(path), `.${randomUUID()}.part`);
  try {
    if (existing !== undefined && !existing.isFile()) return await writeFile(path, text);
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritable(path, error);
  }
}

/** Shows the table, unless quiet, and writes the exports. */
export async function writeOutputs(report: Report, { exports, quiet }: Outputs, host: CommandHost): Promise<void> {
  const toStandardOutput = exports.some(({ path }) => path === STANDARD_OUTPUT);
  if (!quiet) {
    if (toStandardOutput) host.warn(toTable(report, { color: false }));
    else host.print(toTable(report, { color: host.color }));
  }
  for (const { format, path } of exports) {
    const text = EXPORTERS[format](report);
    if (path === STANDARD_OUTPUT) host.print(text);
    else await writeWhole(path, text);
  }
}
