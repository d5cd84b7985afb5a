import { oneLine } from '../one-line.js';
import type { Exporter, TableResult } from './exporter.js';

/** No character ends the cell or the line, or makes a link, an element or emphasis. `_` does nothing within a word. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\|<>&[\]*`~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&');
}

/** Its beginning makes no heading, list or line. */
function paragraph(text: string): string {
  return escaped(text).replace(/^(\s*\d*)([-#+.)])(?=[-#]*(\s|$))/, '$1\\$2');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`;
}

export const markdown: Exporter<Pick<TableResult, 'table' | 'warnings' | 'notes'>> = ({
  table,
  warnings = [],
  notes,
}) => {
  const lines = [
    ...warnings.flatMap((warning) => [paragraph(warning), '']),
    row(table.titles),
    row(table.aligns.map((align) => (align === 'right' ? '---:' : '---'))),
    ...table.rows.map(row),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${paragraph(note)}`)]),
  ];
  return `${lines.join('\n')}\n`;
};
