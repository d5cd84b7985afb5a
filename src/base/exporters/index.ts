import { csv } from './csv.js';
import type { Exporter, TableResult } from './exporter.js';
import { markdown } from './markdown.js';

export const json: Exporter<Pick<TableResult, 'document'>> = ({ document }) => `${JSON.stringify(document, null, 2)}\n`;

export const TABLE_EXPORTERS = { json, csv, markdown } as const satisfies Record<string, Exporter<TableResult>>;

export type TableFormat = keyof typeof TABLE_EXPORTERS;
