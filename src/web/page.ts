import { createHash } from 'node:crypto';
import type { TableResult } from '../base/exporters/exporter.js';
import type { Page, PageSection } from '../base/exporters/page.js';
import { Markup, markup } from '../base/markup.js';
import type { TextTable } from '../base/text-table.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';

/** A result to show on a page. */
export interface PagedResult {
  readonly result: () => TableResult;
  readonly page?: () => Page;
}

/** Notes that belong above the figures. */
const WARNING = /^warning: /;

/** Longer names of a title are cut there. */
const MAX_TITLE_LENGTH = 200;

// Nothing is loaded, and no script runs but this one. Styles need no hash: they can load nothing either.
const HASH = createHash('sha256').update(PAGE_SCRIPT).digest('base64');
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${HASH}'; base-uri 'none'; form-action 'none'`;

/** The page of a result that has none of its own. */
function plainPage({ table }: TableResult): Page {
  return { title: 'Result', sections: [{ title: 'Table', table }] };
}

function tableMarkup(name: string, { titles, aligns, rows, hints }: TextTable): Markup {
  const right = titles.map((_, column) => Markup.trusted(aligns?.[column] === 'right' ? ' class="right"' : ''));
  const cellOf = (text: string, row: number, column: number): Markup => {
    const hint = hints?.[row]?.[column];
    const title = hint === undefined ? '' : markup` title="${hint}"`;
    if (column === 0) return markup`<th scope="row"${title}>${text}</th>`;
    return markup`<td${right[column]}${title}>${text}</td>`;
  };
  return markup`<div class="table" role="region" tabindex="0" aria-label="${name}"><table>
<thead><tr>${titles.map((title, column) => markup`<th scope="col"${right[column]}>${title}</th>`)}</tr></thead>
<tbody>
${rows.map((cells, row) => markup`<tr>${cells.map((text, column) => cellOf(text, row, column))}</tr>\n`)}</tbody>
</table></div>`;
}

function sectionMarkup({ title, lead, chart, table }: PageSection, level: Markup): Markup {
  return markup`<section><h${level}>${title}</h${level}>
${lead === undefined ? '' : markup`<p class="lead">${lead}</p>\n`}${chart}
${table === undefined ? '' : table.rows.length === 0 ? markup`<p class="quiet">nothing to show</p>` : tableMarkup(title, table)}
</section>
`;
}

function listMarkup(lines: readonly string[], name: string): Markup {
  return markup`<ul class="${name}">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;
}

/**
 * Results as one file of HTML, the first result's title on top. It loads nothing, and needs no script to show all
 * tables and charts.
 */
export function htmlPage(results: readonly PagedResult[]): string {
  const pages = results.map((each) => {
    const result = each.result();
    return { result, page: each.page?.() ?? plainPage(result) };
  });
  const title = pages.map(({ page }) => page.title).join('; ');
  const short = title.length > MAX_TITLE_LENGTH ? `${title.slice(0, MAX_TITLE_LENGTH)}…` : title;
  const isOne = pages.length === 1;
  const level = Markup.trusted(isOne ? '2' : '3');
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Markup.trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${short}</title>
<style>${Markup.trusted(PAGE_STYLE)}</style>
</head>
<body>
<main>
${isOne ? undefined : markup`<h1>${String(pages.length)} results</h1>`}
${pages.map(({ result, page }) => {
  const notes = result.notes.filter((note) => !WARNING.test(note));
  const warnings = [...(result.warnings ?? []), ...result.notes.filter((note) => WARNING.test(note))];
  const heading = Markup.trusted(isOne ? '1' : '2');
  return markup`<h${heading}>${page.title}</h${heading}>
${page.verdict === undefined ? undefined : markup`<p class="verdict">${page.verdict}</p>`}
${warnings.length === 0 ? undefined : listMarkup(warnings, 'warnings')}
${page.sections.map((section) => sectionMarkup(section, level))}
${notes.length === 0 ? undefined : markup`<section><h${level}>Notes</h${level}>${listMarkup(notes, 'notes')}</section>`}`;
})}
</main>
<script>${Markup.trusted(PAGE_SCRIPT)}</script>
</body>
</html>
`.text;
}
