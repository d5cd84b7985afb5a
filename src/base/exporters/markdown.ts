import type { Exporter, TableResult } from './exporter.js';

/** No character ends the cell or makes a link, an element or emphasis. */
function escaped(text: string): string {
  return text.replace(/[\\|<&[\]*`]/g, '\\$&');
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
    ...warnings.flatMap((warning) => [warning, '']),
    row(table.titles),
    row(table.aligns.map((align) => (align === 'right' ? '---:' : '---'))),
    ...table.rows.map(row),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${note}`)]),
  ];
  return `${lines.join('\n')}\n`;
};
