/** Without the script, a page shows the same figures. It is a text because it runs in browsers only. */
export const PAGE_SCRIPT = `'use strict';
const make = (name, properties) => Object.assign(document.createElement(name), properties);
const NUMBER = /[-+]?\\d+(?:\\.\\d+)?(?:e[-+]?\\d+)?/i;
const numberIn = (text) => { const found = NUMBER.exec(text); return found ? Number(found[0]) : undefined; };
// What is shortened is whole in a title.
const cellsOf = (row) => [...row.cells].map((cell) => (cell.querySelector('abbr')?.title ?? cell.textContent).trim());
// A cell that begins like a formula would be one in a spreadsheet.
const csvField = (text, isNumber) => {
  const safe = /^[=+\\-@\\t\\r]/.test(text) && !isNumber ? "'" + text : text;
  return /[",\\r\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};
const isPlain = (text) => text === '-' || (text !== '' && Number.isFinite(Number(text)));
for (const box of document.querySelectorAll('.table')) {
  const table = box.querySelector('table');
  const head = table.tHead.rows[0];
  const body = table.tBodies[0];
  const name = box.getAttribute('aria-label');
  const original = [...body.rows];
  const shown = () => [...body.rows].filter((row) => !row.hidden);
  const isChoice = (column) => original[0]?.cells[column].querySelector('input') != null;
  const text = (field, separator, end) => [head, ...shown()].map((row) =>
    cellsOf(row).filter((_, column) => !isChoice(column)).map(field).join(separator) + end).join('');
  const tools = make('div', { className: 'tools' });
  const state = make('span', { className: 'state' });
  state.setAttribute('role', 'status');
  const button = (label, run) => {
    const made = make('button', { type: 'button', textContent: label });
    made.setAttribute('aria-label', label + ': ' + name);
    made.addEventListener('click', run);
    return made;
  };
  const filter = make('input', { type: 'search', placeholder: 'filter' });
  filter.setAttribute('aria-label', 'filter: ' + name);
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of original) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
    }
    state.textContent = words.length === 0 ? '' : shown().length + ' of ' + original.length + ' rows';
  });
  // A table may be in a form, which Enter would send.
  filter.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault();
  });
  const copy = button('copy', async () => {
    const content = text((cell) => cell.replace(/\\s+/g, ' '), '\\t', '\\n');
    try {
      await navigator.clipboard.writeText(content);
      state.textContent = 'copied';
    } catch {
      // A page from disk may not use the clipboard. What is selected can be copied.
      getSelection().selectAllChildren(table);
      state.textContent = document.execCommand('copy') ? 'copied' : 'selected: copy with Ctrl+C';
    }
  });
  const save = button('CSV', () => {
    const content = text((cell) => csvField(cell, isPlain(cell)), ',', '\\r\\n');
    const link = make('a', { download: name.replace(/[^\\w-]+/g, '-').slice(0, 60) + '.csv' });
    link.href = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  tools.append(...(original.length > 1 ? [filter] : []), copy, save, state);
  box.before(tools);
  if (original.length < 2) continue;
  [...head.cells].forEach((title, column) => {
    if (isChoice(column)) return;
    const sort = make('button', { type: 'button' });
    if (title.querySelector('a') === null) sort.append(...title.childNodes);
    else sort.setAttribute('aria-label', 'sort by ' + title.textContent.trim());
    title.append(sort);
    const isNumber = title.classList.contains('right');
    const valueOf = (row) => {
      const cell = row.cells[column].textContent;
      return isNumber ? numberIn(cell) : cell.toLowerCase();
    };
    sort.addEventListener('click', () => {
      const before = title.getAttribute('aria-sort');
      for (const other of head.cells) other.removeAttribute('aria-sort');
      const next = before === null ? (isNumber ? 'descending' : 'ascending')
        : before === (isNumber ? 'descending' : 'ascending') ? (isNumber ? 'ascending' : 'descending') : null;
      if (next !== null) title.setAttribute('aria-sort', next);
      const sign = next === 'descending' ? -1 : 1;
      const keyed = original.map((row) => [valueOf(row), row]);
      // Unknown values come last.
      if (next !== null) keyed.sort(([a], [b]) => (a === b ? 0 : a === undefined ? 1 : b === undefined ? -1
        : isNumber ? sign * (a - b) : sign * a.localeCompare(b)));
      body.append(...keyed.map(([, row]) => row));
    });
  });
  // Each number says what it is.
  table.addEventListener('mouseover', ({ target }) => {
    const cell = target.closest('tbody td');
    if (cell === null || cell.title !== '' || isChoice(cell.cellIndex)) return;
    const row = cellsOf(cell.parentElement)[0];
    cell.title = row + ', ' + cellsOf(head)[cell.cellIndex] + ': ' + cell.textContent.trim();
  });
}
`;
