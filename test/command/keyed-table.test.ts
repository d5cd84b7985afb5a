import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shownTable } from '../../src/command/keyed-table.js';

const COLUMNS = ['model', 'what', 'found'].map((title) => ({ key: title, title, align: 'left' as const }));

function textOf(found: string, width: number, kept: readonly string[] = []): string {
  const table = { columns: COLUMNS, rows: [{ model: 'net', what: 'memory', found }], notes: [] };
  return shownTable(table, { document: {}, title: 'Table', kept }).text({ color: false, width });
}

describe('a table in a narrow terminal', () => {
  const NAME = 'a_name_of_a_kernel_that_is_longer_than_the_terminal_is_wide';

  test('leaves out the last columns, and says which', () => {
    assert.match(textOf(NAME, 40), /^│ net +│ memory │$[^]*too narrow for: found;/m);
  });

  test('has sentences in several lines instead', () => {
    const text = textOf('the most memory is in use after a change of the layout', 40);
    assert.match(text, /│ net +│ memory +│ the most /);
    assert.doesNotMatch(text, /too narrow/);
    assert.ok(text.split('\n').every((line) => line.length <= 40));
  });

  test('leaves out sentences too where even their lines are too wide', () => {
    assert.match(textOf('the most memory is in use after a change of the layout', 28), /too narrow\s+for: found;/);
  });

  test('keeps its verdict', () => {
    const text = textOf(NAME, 40, ['found']);
    assert.match(text, /│ model +│ found +│/);
    assert.match(text, /too narrow for: what;/);
  });
});
