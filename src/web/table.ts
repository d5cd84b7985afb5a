import { type AnyColumn, type TextTable, textTable } from '../base/text-table.js';
import { Markup, markup } from '../base/markup.js';

type Cell = string | Markup;

type MarkupTable = TextTable<Cell>;

export type MarkupColumn<Row> = AnyColumn<Row, Cell>;

export function link(address: string, text: string): Markup {
  return markup`<a href="${address}">${text}</a>`;
}

/** Without a root, the table has no links. */
export function withLinks({ links, ...table }: TextTable, root: string | undefined): MarkupTable {
  if (root === undefined || links === undefined) return table;
  const cellOf = (text: string, target: string | undefined): Cell => {
    return target === undefined ? text : link(`${root}${target}`, text);
  };
  return { ...table, rows: table.rows.map((cells, row) => cells.map((text, at) => cellOf(text, links[row]?.[at]))) };
}

/** The browser draws longer tables when they are scrolled to. */
const LONG = 1000;

export function tableMarkup(name: string, { titles, aligns, rows, hints, wholes }: MarkupTable): Markup {
  const right = titles.map((_, column) => Markup.trusted(aligns?.[column] === 'right' ? ' class="right"' : ''));
  const cellOf = (part: Cell, row: number, column: number): Markup => {
    const whole = wholes?.[row]?.[column];
    const cell = whole === undefined ? part : markup`<abbr title="${whole}">${part}</abbr>`;
    const hint = hints?.[row]?.[column];
    const title = hint === undefined ? '' : markup` title="${hint}"`;
    if (column === 0) return markup`<th scope="row"${title}>${cell}</th>`;
    return markup`<td${right[column]}${title}>${cell}</td>`;
  };
  if (rows.length === 0) return markup`<p class="quiet">nothing to show</p>`;
  const long = Markup.trusted(rows.length > LONG ? ' long' : '');
  return markup`<div class="table${long}" role="region" tabindex="0" aria-label="${name}"><table>
<thead><tr>${titles.map((title, column) => markup`<th scope="col"${right[column]}>${title}</th>`)}</tr></thead>
<tbody>
${rows.map((cells, row) => markup`<tr>${cells.map((cell, column) => cellOf(cell, row, column))}</tr>\n`)}</tbody>
</table></div>`;
}

export function columnsMarkup<Row>(name: string, columns: readonly MarkupColumn<Row>[], rows: readonly Row[]): Markup {
  return tableMarkup(name, textTable(columns, rows));
}
