import type { Report } from './report.js';
import { toCsv } from './csv.js';
import { toJson } from './json.js';
import { toMarkdown } from './markdown.js';

/** A report as the text of a file. One module a format, all from the same document. */
export type Exporter = (report: Report) => string;

export const EXPORTERS = { json: toJson, csv: toCsv, markdown: toMarkdown } as const satisfies Record<string, Exporter>;

export type ExportFormat = keyof typeof EXPORTERS;
