import { provenanceOf } from '../agent/provenance.js';
import type { TableResult } from '../base/exporters/exporter.js';
import { oneLine } from '../base/one-line.js';
import { ownValue } from '../base/own-value.js';
import { fittingTable, leftOutLines } from '../base/fitting-table.js';
import { wrap } from '../base/wrap.js';
import { type Column, filledColumns } from '../base/text-table.js';
import type { AnalysisTable } from '../evaluation/analysis.js';

type Cell = string | number | null;

const UNKNOWN = '-';

/** A number that is not an integer has four significant digits. */
function shown(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return UNKNOWN;
  if (typeof cell === 'string') return oneLine(cell);
  return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(4)));
}

export function analysisResult(document: AnalysisTable): TableResult {
  const { columns, rows, notes } = document;
  const keys = columns.map(({ key }) => key);
  const ofStore = 'the store has measurements of different ones';
  const reasons = { protocol: ofStore, host: ofStore, stack: ofStore };
  return {
    document: { provenance: provenanceOf({ reasons }), ...document },
    records: { keys, rows: rows.map((row) => keys.map((key) => ownValue(row, key))) },
    table: {
      titles: columns.map(({ title, unit }) => oneLine(unit === undefined ? title : `${title} (${unit})`)),
      aligns: columns.map(({ align }) => align),
      rows: rows.map((row) => keys.map((key) => shown(ownValue(row, key)))),
    },
    notes: notes.map(oneLine),
  };
}

/** For people. @param width columns of the terminal; undefined where there is none */
export function analysisText({ table, notes }: TableResult, width: number | undefined): string {
  const columns = table.titles.map((title, index): Column<readonly string[]> => {
    return { title, align: table.aligns[index] ?? 'left', cell: (row) => row[index] ?? '' };
  });
  const filled = table.rows.length === 0 ? columns : filledColumns(columns, table.rows);
  // The first column is the subject of the analysis.
  const dispensable = table.titles.slice(1).reverse();
  const fitted = fittingTable(filled, table.rows, { width, dispensable });
  return `${[fitted.text, ...leftOutLines(fitted, width), ...notes.map((note) => wrap(note, width ?? Infinity, '  '))].join('\n')}\n`;
}
