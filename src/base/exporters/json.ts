import type { Exporter, TableResult } from './exporter.js';

export const json: Exporter<Pick<TableResult, 'document'>> = ({ document }) => `${JSON.stringify(document, null, 2)}\n`;
