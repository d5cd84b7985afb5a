import { createHash } from 'node:crypto';
import type { TableResult } from '../base/exporters/exporter.js';
import type { Page, PageSection } from '../base/exporters/page.js';
import { Markup, markup } from '../base/markup.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { provenanceSections } from './provenance.js';
import { tableMarkup, withLinks } from './table.js';

export interface PagedResult {
  readonly result: () => TableResult;
  readonly page?: () => Page;
}

const WARNING = /^warning: /;

const MAX_TITLE_LENGTH = 200;

// Nothing is loaded, and no script runs but this one. Styles need no hash: they can load nothing either.
const HASH = createHash('sha256').update(PAGE_SCRIPT).digest('base64');
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${HASH}'; base-uri 'none'; form-action 'none'`;

function sectionMarkup({ title, lead, chart, table }: PageSection, level: Markup, root: string | undefined): Markup {
  return markup`<section><h${level}>${title}</h${level}>
${lead === undefined ? '' : markup`<p class="lead">${lead}</p>\n`}${chart}
${table === undefined ? '' : tableMarkup(title, withLinks(table, root))}
</section>
`;
}

/** In one piece: browsers break lines after hyphens. */
const OPTION = /(--[a-z]+(?:-[a-z]+)*)/;

function listMarkup(lines: readonly string[], name: string): Markup {
  const items = lines.map((line) => {
    const parts = line.split(OPTION);
    return parts.map((part, index) => (index % 2 === 1 ? markup`<span class="option">${part}</span>` : part));
  });
  return markup`<ul class="${name}">${items.map((item) => markup`<li>${item}</li>`)}</ul>`;
}

function buildTitle(pages: readonly { readonly page: Page }[]): string {
  const title = pages.map(({ page }) => page.title).join('; ');
  return title.length > MAX_TITLE_LENGTH ? `${title.slice(0, MAX_TITLE_LENGTH)}…` : title;
}

/** @param options.root of the site that has the pages to which results refer; without it, they have no links */
export function resultsMarkup(
  results: readonly PagedResult[],
  { level, root }: { readonly level: 1 | 2; readonly root?: string },
): { readonly title: string; readonly body: Markup } {
  const pages = results.map((each) => {
    const result = each.result();
    return { result, page: each.page?.() ?? { title: 'Result', sections: [{ title: 'Table', table: result.table }] } };
  });
  const heading = Markup.trusted(String(level));
  const below = Markup.trusted(String(level + 1));
  const bodies = pages.map(({ result, page }) => {
    const notes = result.notes.filter((note) => !WARNING.test(note));
    const warnings = [...(result.warnings ?? []), ...result.notes.filter((note) => WARNING.test(note))];
    return markup`<h${heading}>${page.title}</h${heading}>
${page.verdict === undefined ? undefined : markup`<p class="verdict">${page.verdict}</p>`}
${warnings.length === 0 ? undefined : listMarkup(warnings, 'warnings')}
${page.sections.map((section) => sectionMarkup(section, below, root))}
${notes.length === 0 ? undefined : markup`<section><h${below}>Notes</h${below}>${listMarkup(notes, 'notes')}</section>\n`}${provenanceSections(result.document).map((section) => sectionMarkup(section, below, root))}`;
  });
  return { title: buildTitle(pages), body: markup`${bodies}` };
}

/** One file of HTML. It loads nothing, and needs no script to show all tables and charts. */
export function htmlPage(results: readonly PagedResult[]): string {
  const isOne = results.length === 1;
  const { title, body } = resultsMarkup(results, { level: isOne ? 1 : 2 });
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Markup.trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${Markup.trusted(PAGE_STYLE)}</style>
</head>
<body>
<main>
${isOne ? undefined : markup`<h1>${String(results.length)} results</h1>`}
${body}
</main>
<script>${Markup.trusted(PAGE_SCRIPT)}</script>
</body>
</html>
`.text;
}
