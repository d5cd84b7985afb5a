import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import type { Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { buildReport, type ReportSettings } from '../../../../plugins/dlbricks/report/report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { wrap } from '../../../../src/base/wrap.js';
import { endToEndOf, estimateOf, FAILURE, resultOf, SETTINGS } from './sample-result.js';

const report = buildReport(
  resultOf([{ estimate: estimateOf('resnet50', 10.9), endToEnd: endToEndOf(0, 9.8, 5000, 10.2) }]),
  SETTINGS,
);

function linesAt(width: number): readonly string[] {
  return toTable([report], { color: false, width, wide: true }).split('\n');
}

/** The titles of the columns. Titles in two lines are joined. */
function titlesAt(width: number): readonly string[] {
  const lines = linesAt(width);
  const heading = lines.slice(
    1,
    lines.findIndex((line) => line.startsWith('├')),
  );
  const rows = heading.map((line) => line.split('│').slice(1, -1));
  return (rows[0] ?? []).map((_, column) =>
    rows
      .map((cells) => (cells[column] ?? '').trim())
      .join(' ')
      .trim(),
  );
}

describe('a table on a terminal', () => {
  for (const width of [80, 90, 100, 120, 140]) {
    test(`of ${width} columns fits it`, () => {
      for (const line of linesAt(width)) assert.ok(line.length <= width, line);
    });
  }

  test('has all columns where there is room', () => {
    assert.deepEqual(titlesAt(140), titlesAt(Infinity));
    assert.ok(!linesAt(140).join('\n').includes('too narrow'));
  });

  test('keeps the main columns, and names the columns that it leaves out', () => {
    assert.deepEqual(titlesAt(80), ['model', 'layers', 'unique bricks', 'estimate (ms)', 'measured (ms)', 'error']);
    const note = 'This terminal is too narrow for: batch, threads, parallelism, repeat, normalized;';
    assert.ok(linesAt(80).join(' ').replace(/\s+/g, ' ').includes(note));
  });

  test('never leaves out the interval', () => {
    for (const width of [40, 60, 80]) assert.match(linesAt(width).join('\n'), /10\.90 ± 9\.2 %/);
  });
});

describe('the table of several reports', () => {
  const reportWith = (changes: Partial<ReportSettings>) =>
    buildReport(resultOf([{ estimate: estimateOf('resnet50', 10.9), endToEnd: undefined }]), {
      ...SETTINGS,
      ...changes,
    });
  const rowsOf = (...reports: readonly Report[]): readonly string[] =>
    toTable(reports, { color: false, width: 80 })
      .split('\n')
      .filter((line) => line.startsWith('│'));

  test('names the evaluation of each row if the evaluations differ', () => {
    const reports = [reportWith({ evaluation: 'nightly' }), reportWith({})];
    assert.deepEqual(rowsOf(...reports), [
      '│ model    │ evaluation │ batch │ threads │ estimate (ms) │',
      '│ resnet50 │ nightly    │     1 │       1 │ 10.90 ± 9.2 % │',
      '│ resnet50 │ -          │     1 │       1 │ 10.90 ± 9.2 % │',
    ]);
    const [title = ''] = rowsOf(
      reportWith({ evaluation: 'one', batch: 1 }),
      reportWith({ evaluation: 'one', batch: 2 }),
    );
    assert.ok(!title.includes('evaluation'));
  });

  test('has below it a line for each report, with its cut and granularity too', () => {
    const text = toTable([reportWith({}), reportWith({ cut: 'kernel', granularity: 1 })], { color: false });
    assert.match(text, /^batch 1, 1 thread, up to 2 layers a brick: 8 layers/m);
    assert.match(text, /^batch 1, 1 thread, one kernel a brick: 8 layers/m);
    assert.match(text, /^The layer cut is the DLBricks paper's method/m);
  });
});

describe('a model that fails as a whole twice for one reason', () => {
  test('says so once', () => {
    const failed = { estimate: estimateOf('failed', 5), endToEnd: endToEndOf(3, FAILURE, 60_000, FAILURE) };
    const text = toTable([buildReport(resultOf([failed]), SETTINGS)], { color: false });
    assert.equal(text.match(/missing the whole model/g)?.length, 1);
  });
});

describe('a wrapped line', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 40 });

  test('has pieces that fit, as far as their words do, and loses nothing', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 16, max: 60 }), (list, width) => {
        const pieces = wrap(list.join(' '), width, '    ').split('\n');
        for (const piece of pieces) assert.ok(piece.length <= width, piece);
        assert.deepEqual(pieces.join(' ').trim().split(/ +/), list);
      }),
    );
  });

  test('keeps its own indentation, and indents the lines that follow', () => {
    assert.equal(wrap('  one two three', 9, '    '), '  one two\n    three');
  });

  test('does not break a word', () => {
    assert.equal(wrap('unbreakable', 3, ' '), 'unbreakable');
  });
});
