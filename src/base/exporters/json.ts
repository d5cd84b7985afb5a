import type { Exporter, TableResult } from './exporter.js';

/** The whole document. */
export const json: Exporter<Pick<TableResult, 'document'>> = ({ document }) => `${JSON.stringify(document, null, 2)}\n`;
