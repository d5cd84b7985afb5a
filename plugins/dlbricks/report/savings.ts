import { type Column, counted, type PageSection, rangeChart, textTable, left, right } from '../../../src/plugin-api.js';
import { percent } from './figures.js';

/** For each list, how many of its values no list before it has. */
export function newAmong(lists: readonly (readonly string[])[]): readonly number[] {
  const known = new Set<string>();
  return lists.map((list) => {
    const before = known.size;
    for (const value of list) known.add(value);
    return known.size - before;
  });
}

interface Added {
  readonly name: string;
  readonly sequences: number;
  readonly new_bricks: number;
}

/** How the number of bricks stays behind that of sequences as models are added, in their order. */
export function savingsSections(models: readonly Added[]): readonly PageSection[] {
  if (models.length < 2) return [];
  let sequences = 0;
  let bricks = 0;
  const rows = models.map((model) => {
    sequences += model.sequences;
    bricks += model.new_bricks;
    return { ...model, all: sequences, bricks };
  });
  type Row = (typeof rows)[number];
  const saved = ({ all, bricks: needed }: Row): string => percent(all === 0 ? null : 100 * (1 - needed / all), 0);
  const number = (title: string, cell: (row: Row) => number) => right<Row>(title, (row) => String(cell(row)));
  const columns: Column<Row>[] = [
    left('with', ({ name }) => name),
    number('sequences', (row) => row.sequences),
    number('new bricks', (row) => row.new_bricks),
    number('sequences so far', ({ all }) => all),
    number('bricks so far', (row) => row.bricks),
    right('saved', saved),
  ];
  const chart = rangeChart({
    unit: 'number',
    words: { value: 'different bricks so far', interval: 'saved', other: 'sequences so far' },
    ranges: rows.map((row) => ({
      name: `+ ${row.name}`,
      value: row.bricks,
      low: row.bricks,
      high: row.all,
      other: row.all,
      text: `${counted(row.bricks, 'brick')} for ${counted(row.all, 'sequence')}, ${saved(row)} saved`,
    })),
  });
  const lead = 'Each row adds a model to those above it. A brick is measured once for all sequences that are the same.';
  return [{ title: 'Savings as models are added', lead, chart, table: textTable(columns, rows) }];
}
