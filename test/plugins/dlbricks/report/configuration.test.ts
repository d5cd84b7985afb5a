import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRows } from '../../../../plugins/dlbricks/report/columns.js';
import { partsInWords } from '../../../../plugins/dlbricks/report/configuration.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { leadingLines, summaryLines } from '../../../../plugins/dlbricks/report/summary-lines.js';
import { rowName } from '../../../../plugins/dlbricks/report/table.js';
import { estimateOf, resultOf, SETTINGS } from './sample-result.js';

test('models of short kernels have fewer sequences than kernels', () => {
  const cut = { cut: 'kernel', granularity: 1 } as const;
  const words = (kernels: number): string => partsInWords('99 layers', { sequences: 12, unique: 5, kernels }, [cut]);
  assert.equal(words(12), '99 layers, run as 12 kernels; 5 different ones (bricks)');
  assert.equal(words(90), '99 layers, run as 90 kernels in 12 sequences; 5 different ones (bricks)');
  // A report of an earlier version does not say how many kernels a model has.
  assert.equal(words(0), '99 layers, run as 12 kernels; 5 different ones (bricks)');
});

/** A model with an interval of a third to each side. */
function reportWith(sequence: number): Report {
  const report = buildReport(resultOf([{ estimate: estimateOf('m', 3), endToEnd: undefined }]), SETTINGS);
  const dimensions = [{ name: 'seq', size: sequence }];
  return { ...report, models: report.models.map((model) => ({ ...model, dimensions })) };
}

test('lines about one of several combinations name the dimensions by which they differ', () => {
  const reports = [reportWith(32), reportWith(64)];
  assert.deepEqual(
    leadingLines(reports).map((line) => line.slice(0, line.indexOf(': wide intervals'))),
    ['warning: batch 1, 1 thread, seq=32', 'warning: batch 1, 1 thread, seq=64'],
  );
  const lines = summaryLines(reports, { wide: false }).filter((line) => line.includes('8 layers in 1 model'));
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(': 8 layers'))),
    ['batch 1, 1 thread, seq=32', 'batch 1, 1 thread, seq=64'],
  );
  assert.deepEqual(
    makeRows(reports).map((row) => rowName(row, reports)),
    ['m, batch 1, 1 thread, seq=32', 'm, batch 1, 1 thread, seq=64'],
  );
});

/** Of two models, of which the warnings of one are the same in each combination. */
function reportAt(threads: number, share: string): Report {
  const spreads = { bricks: undefined, reason: 'bricks were measured once', wholes: new Map(), machines: undefined };
  const sequential = { ms: 3, lowMs: undefined, highMs: undefined };
  const models = ['m', 'n'].map((name) => ({
    estimate: estimateOf(name, 3, { sequential, predictedMs: 1.5 }),
    endToEnd: undefined,
  }));
  const report = buildReport(resultOf(models, { spreads }), { ...SETTINGS, cut: 'kernel' });
  const warnings: Report['warnings'] = [
    { cause: 'short_kernels', message: `m: off by ${share}` },
    { cause: 'values', message: 'n: made up' },
  ];
  return { ...report, system: { ...report.system, threads }, warnings };
}

test('a warning about one of several combinations names it, and one about all of them does not', () => {
  assert.deepEqual(leadingLines([reportAt(1, '12 %'), reportAt(2, '25 %')]), [
    'warning: batch 1, 1 thread: m: off by 12 %',
    'warning: n: made up',
    'warning: batch 1, 2 threads: m: off by 25 %',
  ]);
  assert.deepEqual(leadingLines([reportAt(1, '12 %')]), ['warning: m: off by 12 %', 'warning: n: made up']);
});

test('several combinations say as one does why intervals are missing and what is predicted', () => {
  const lines = summaryLines([reportAt(1, '12 %'), reportAt(2, '25 %')], { wide: false });
  const explained = lines.filter((line) => /no intervals: bricks were measured once|predicted from/.test(line));
  assert.deepEqual(
    explained.map((line) => line.slice(0, 16)),
    ['  no intervals: ', '  predicted from', '  no intervals: ', '  predicted from'],
  );
});
