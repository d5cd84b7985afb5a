import { resolve } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { TABLE_EXPORTERS, type TableFormat } from '../base/exporters/index.js';
import { requireWritable, writeResult } from '../base/output-file.js';
import type { CommandHost } from '../evaluation/plugin.js';
import type { ShownResult } from '../evaluation/evaluation.js';
import { htmlPage } from '../web/page.js';
import type { LogOption, OutputOptions } from './options.js';

const STANDARD_OUTPUT = '-';

/** The kinds of exports: tables, a page, the queries of a load, a trace of an estimate's parts, a picture. */
export type OutputFormat = TableFormat | 'html' | 'samples' | DrawnFormat;

type DrawnFormat = 'trace' | 'svg' | 'dot';

interface Export {
  readonly format: OutputFormat;
  readonly path: string;
}

export interface Outputs {
  readonly exports: readonly Export[];
  readonly quiet: boolean;
}

/**
 * Checks first that files can be written, and makes missing folders, so that a typing error costs no measurement.
 * @throws PlatformError `usage` for two documents in the same place, and as {@link requireWritable}
 */
export async function prepareOutputs(
  options: OutputOptions & LogOption & { readonly json?: boolean; readonly annotate?: string },
): Promise<Outputs> {
  const paths: readonly (readonly [OutputFormat, string | undefined])[] = [
    ['json', options.exportJson],
    ['csv', options.exportCsv],
    ['markdown', options.exportMarkdown],
    ['html', options.exportHtml],
    ['trace', options.traceOut],
    ['svg', options.exportSvg],
    ['dot', options.exportDot],
    ['samples', options.samples],
  ];
  const exports = paths.flatMap(([format, path]): Export | [] => (path === undefined ? [] : { format, path }));
  if (options.json === true && exports.some(({ path }) => path === STANDARD_OUTPUT)) {
    const problem = 'standard output has the document of --json already';
    throw new PlatformError('usage', `${problem}; name a file for the export, or leave --json out`);
  }
  const places = new Set(
    [options.log, options.annotate].flatMap((path) => (path === undefined ? [] : [resolve(path)])),
  );
  for (const { path } of exports) {
    const place = path === STANDARD_OUTPUT ? 'standard output' : resolve(path);
    if (places.has(place)) throw new PlatformError('usage', `only one export can go to ${place}; name another file`);
    places.add(place);
    if (path !== STANDARD_OUTPUT) await requireWritable(path);
  }
  return { exports, quiet: options.quiet ?? false };
}

export function printsExport({ exports }: Outputs): boolean {
  return exports.some(({ path }) => path === STANDARD_OUTPUT);
}

/**
 * Files come first, so that an error of a stream, such as a closed pipe, costs no file; `show` comes before the stream.
 * @throws PlatformError `storage` for the first file that cannot be written; the others are written
 */
export async function writeExports(
  textFor: (format: OutputFormat) => string,
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

export interface Shown extends ShownResult {
  /** The trace and the pictures of the result that its command has options for. */
  readonly pictures?: Partial<Readonly<Record<DrawnFormat, () => string>>>;
  /** JSON lines instead of one document. */
  readonly jsonLines?: () => string;
  /** JSON lines of the queries of a load. */
  readonly samples?: () => string;
}

/** Shows a table unless `quiet` is set, and writes the exports. @throws PlatformError as {@link writeExports} */
export async function writeShown(shown: Shown, outputs: Outputs, host: CommandHost): Promise<void> {
  const { result, pictures = {}, jsonLines, samples, text } = shown;
  const textFor = (format: OutputFormat): string => {
    if (format === 'trace' || format === 'svg' || format === 'dot') return pictures[format]?.() ?? '';
    if (format === 'samples') return samples?.() ?? '';
    if (format === 'html') return htmlPage([shown]);
    return format === 'json' && jsonLines !== undefined ? jsonLines() : TABLE_EXPORTERS[format](result());
  };
  await writeExports(textFor, outputs.exports, host, () => {
    if (outputs.quiet) return;
    if (printsExport(outputs)) host.warn(text({ color: false, width: host.columns?.err }).trimEnd());
    else host.print(text({ color: host.color, width: host.columns?.out }));
  });
}
