import { resolve } from 'node:path';
import {
  type CommandHost,
  PlatformError,
  requireWritable,
  TABLE_EXPORTERS,
  type TableFormat,
  writeResult,
} from '../../../src/plugin-api.js';
import type { Report } from '../report/report.js';
import { reportResult } from '../report/report-result.js';
import { toTable } from '../report/table.js';
import type { PlaceOptions } from './options.js';

const STANDARD_OUTPUT = '-';

/** What may be written: the report in its formats, and what it is made of as a trace. */
export type OutputFormat = TableFormat | 'trace';

interface Export {
  readonly format: OutputFormat;
  readonly path: string;
}

/** Where the results of a command go; checked before anything is measured. */
export interface Outputs {
  readonly exports: readonly Export[];
  readonly quiet: boolean;
}

/**
 * Takes the export options and makes sure that the files can be written, so that no measurement is lost to a typing
 * error. Missing folders are made.
 *
 * @throws PlatformError `usage` for two exports to the same place, `storage` for a file that cannot be written
 */
export async function prepareOutputs(options: PlaceOptions): Promise<Outputs> {
  const paths: Record<OutputFormat, string | undefined> = {
    json: options.exportJson,
    csv: options.exportCsv,
    markdown: options.exportMarkdown,
    trace: options.traceOut,
  };
  const exports = (Object.keys(paths) as OutputFormat[]).flatMap((format): Export[] => {
    const path = paths[format];
    return path === undefined ? [] : [{ format, path }];
  });
  const places = new Set<string>();
  for (const { path } of exports) {
    const place = path === STANDARD_OUTPUT ? 'standard output' : resolve(path);
    if (places.has(place)) throw new PlatformError('usage', `only one export can go to ${place}; name another file`);
    places.add(place);
    if (path !== STANDARD_OUTPUT) await requireWritable(path);
  }
  return { exports, quiet: options.quiet ?? false };
}

/** A text for each of the exports. */
type Texts = (format: OutputFormat) => string;

/**
 * Writes the exports, files first: nothing that happens to the streams, such as a reader who leaves, takes them away.
 *
 * @param show says what there is to say besides, before anything goes to standard output
 * @throws PlatformError `storage` for the first file that cannot be written; the others are written
 */
export async function writeExports(
  textFor: Texts,
  exports: readonly Export[],
  host: CommandHost,
  show: () => void = () => {},
): Promise<void> {
  const failures: unknown[] = [];
  for (const { format, path } of exports) {
    if (path === STANDARD_OUTPUT) continue;
    await writeResult(path, textFor(format)).catch((error: unknown) => failures.push(error));
  }
  show();
  for (const { format, path } of exports) if (path === STANDARD_OUTPUT) host.print(textFor(format));
  if (failures.length > 0) throw failures[0];
}

/** Whether something goes to standard output already, so that a table has to go elsewhere. */
export function usesStandardOutput({ exports }: Outputs): boolean {
  return exports.some(({ path }) => path === STANDARD_OUTPUT);
}

/**
 * Shows the report as a table, unless quiet, and writes the exports.
 *
 * @param trace what the report's estimates are made of, as a trace
 * @throws PlatformError as {@link writeExports}
 */
export async function writeReport(
  report: Report,
  outputs: Outputs,
  host: CommandHost,
  trace: () => string,
): Promise<void> {
  await writeExports(
    (format) => (format === 'trace' ? trace() : TABLE_EXPORTERS[format](reportResult(report))),
    outputs.exports,
    host,
    () => {
      if (outputs.quiet) return;
      if (usesStandardOutput(outputs)) host.warn(toTable(report, { color: false, width: host.columns?.err }).trimEnd());
      else host.print(toTable(report, { color: host.color, width: host.columns?.out }));
    },
  );
}
