import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TABLE_EXPORTERS } from '../../src/base/exporters/index.js';
import { drawTable, textTable } from '../../src/base/text-table.js';

interface City {
  readonly name: string;
  readonly people: number | null;
}

function resultOf(...cities: readonly City[]) {
  const table = textTable<City>(
    [
      { title: 'city', align: 'left', cell: ({ name }) => name },
      { title: 'people', align: 'right', cell: ({ people }) => (people === null ? '-' : people.toFixed(1)) },
    ],
    cities,
  );
  const records = { keys: ['name', 'people'], rows: cities.map(({ name, people }) => [name, people]) };
  return { document: { cities }, records, table, notes: ['as of today'] };
}

const named = (name: string) => resultOf({ name, people: 1 });
const { csv, json, markdown } = TABLE_EXPORTERS;

describe('csv', () => {
  it('has a header, every digit, and empty fields for unknown values', () => {
    const text = csv(resultOf({ name: 'Ulm', people: 1 / 3 }, { name: 'Rom', people: null }));
    assert.equal(text, `name,people\r\nUlm,${1 / 3}\r\nRom,\r\n`);
  });

  // RFC 4180, section 2, rules 5 to 7.
  const fields: Readonly<Record<string, string>> = {
    'a,b': '"a,b"',
    'a "b"': '"a ""b"""',
    'a\nb': '"a\nb"',
    'a\rb': '"a\rb"',
    'a b': 'a b',
    größer: 'größer',
  };
  for (const [name, field] of Object.entries(fields)) {
    it(`writes ${JSON.stringify(name)} as ${JSON.stringify(field)}`, () => {
      assert.equal(csv(named(name)), `name,people\r\n${field},1\r\n`);
    });
  }

  for (const name of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1']) {
    it(`keeps ${JSON.stringify(name)} from being a formula`, () => {
      assert.equal(csv(named(name)), `name,people\r\n'${name},1\r\n`);
    });
  }

  it('keeps a quoted text from being a formula', () => {
    const text = csv(named('=HYPERLINK("http://x","y")'));
    assert.ok(text.includes(`\r\n"'=HYPERLINK(""http://x"",""y"")",1`));
  });
});

describe('markdown', () => {
  it('is a table with its alignments, and a list of its notes', () => {
    const lines = ['| city | people |', '| --- | ---: |', '| Ulm | - |', '', '- as of today', ''];
    assert.deepEqual(markdown(resultOf({ name: 'Ulm', people: null })).split('\n'), lines);
  });

  it('shows a text as it is, not as a cell border, link, element or emphasis', () => {
    const [, , row] = markdown(named('a|b [x](http://y) <img> *b* `c` \\')).split('\n');
    assert.equal(row, '| a\\|b \\[x\\](http://y) \\<img\\> \\*b\\* \\`c\\` \\\\ | 1.0 |');
  });
});

describe('a text of markdown', () => {
  const shown: Readonly<Record<string, string>> = {
    '*_`m`_[a](b)': '\\*\\_\\`m\\`\\_\\[a\\](b)',
    'x<img src=q>y': 'x\\<img src=q\\>y',
    '~~a~~': '\\~\\~a\\~\\~',
    end_to_end: 'end_to_end',
    '# a': '\\# a',
    '## a': '\\## a',
    '1. a': '1\\. a',
    '---': '\\---',
    '12.5 ms': '12.5 ms',
    'a\nb': 'a\ufffdb',
  };
  for (const [text, escaped] of Object.entries(shown)) {
    it(`is ${JSON.stringify(text)} above and below the table`, () => {
      const lines = markdown({ ...named('Ulm'), warnings: [text], notes: [text] }).split('\n');
      assert.deepEqual([lines[0], lines.at(-2)], [escaped, `- ${escaped}`]);
    });
  }

  it('ends no row with a line break', () => {
    assert.match(markdown(named('a\r\nb')), /^\| a\ufffdb \| 1\.0 \|$/m);
  });
});

describe('json', () => {
  it('is the document, with an end of its last line', () => {
    const text = json(named('Ulm'));
    assert.deepEqual(JSON.parse(text), { cities: [{ name: 'Ulm', people: 1 }] });
    assert.ok(text.endsWith('}\n'));
  });
});

describe('a table for terminals', () => {
  it('has borders around its cells, and no line between rows', () => {
    const { table } = resultOf({ name: 'Ulm', people: 1 }, { name: 'Rom', people: 22 });
    assert.deepEqual(drawTable(table).split('\n'), [
      '┌──────┬────────┐',
      '│ city │ people │',
      '├──────┼────────┤',
      '│ Ulm  │    1.0 │',
      '│ Rom  │   22.0 │',
      '└──────┴────────┘',
    ]);
  });
});
