// Pieces of tables as text, for whatever makes tables: texts in them may come from anybody.

/** Text as it may stand in a line: whatever would end the line or be obeyed by a terminal is replaced. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, '\ufffd');
}

/** RFC 4180: quoted where a field holds a comma, a quote or a line break; also kept from being read as a formula. */
export function csvField(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A cell's text as it is: nothing in it ends the cell or makes a link, an element or emphasis. */
function escaped(text: string): string {
  return text.replace(/[\\|<&[\]*`]/g, '\\$&');
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`;
}

/** A table, and what is said below it. */
export interface MarkdownTable {
  readonly titles: readonly string[];
  /** One for each title. */
  readonly aligns: readonly ('left' | 'right')[];
  readonly rows: readonly (readonly string[])[];
  /** Become a list. */
  readonly notes: readonly string[];
}

/** A GitHub-flavoured table with its notes. */
export function markdownTable({ titles, aligns, rows, notes }: MarkdownTable): string {
  const lines = [
    markdownRow(titles),
    markdownRow(aligns.map((align) => (align === 'right' ? '---:' : '---'))),
    ...rows.map(markdownRow),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${note}`)]),
  ];
  return `${lines.join('\n')}\n`;
}
