import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrickShare, Estimate } from '../../../../plugins/dlbricks/estimate/compose.js';
import { reportPage } from '../../../../plugins/dlbricks/report/report-page.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { tableMarkup } from '../../../../src/web/table.js';
import { signatureOf } from '../../../store/sample-measurement.js';
import { estimateOf, resultOf, SETTINGS } from './sample-result.js';

function part(index: number, operator: string, changes: Partial<BrickShare> = {}): BrickShare {
  return {
    signature: signatureOf(index),
    benchmark: signatureOf(index),
    operators: [operator],
    count: 1,
    onPath: 1,
    measured: { way: 'together' },
    ms: 1,
    occasions: 2,
    processes: [],
    tried: 2,
    runs: 20,
    costMs: 10,
    ...changes,
  };
}

function sectionOf(title: string, changes: Partial<Estimate>) {
  const page = reportPage([
    buildReport(resultOf([{ estimate: estimateOf('net', 10, changes), endToEnd: undefined }]), SETTINGS),
  ]);
  return page.sections.find((section) => section.title === title);
}

const PARTS = [
  part(1, 'Conv', { count: 6, onPath: 4, ms: 0.5 }),
  part(2, 'Gemm', { ms: 3 }),
  part(3, 'Relu', { count: 4, onPath: 0, ms: 1 }),
];

describe('the page of a report', () => {
  test('has the kernels of the longest path in their order, each with its part of the path', () => {
    const section = sectionOf('Longest path', { parts: PARTS });
    assert.deepEqual(section?.table?.rows, [
      ['net', 'k0', 'Conv', '1.000', '20.0 %'],
      ['net', 'k2', 'Gemm', '3.000', '60.0 %'],
    ]);
    const chain = sectionOf('Longest path', { parts: PARTS, parallel: { ms: 10, lowMs: 9, highMs: 11 } });
    assert.equal(chain, undefined, 'a chain is its own path');
  });

  test('has what bricks save as models are added, once for reports with the same numbers', () => {
    const models = ['one', 'two'].map((name) => ({
      estimate: estimateOf(name, 10, { parts: PARTS }),
      endToEnd: undefined,
    }));
    const report = buildReport(resultOf(models), SETTINGS);
    const { sections } = reportPage([report, report]);
    const savings = sections.filter(({ title }) => title === 'Savings as models are added');
    assert.deepEqual(
      savings.map(({ table }) => table?.rows),
      [
        [
          ['one', '11', '3', '11', '3', '73 %'],
          ['two', '11', '0', '22', '3', '86 %'],
        ],
      ],
    );
  });

  test('has the whole signature of each brick, which its script copies and saves', () => {
    const table = sectionOf('Bricks', { parts: PARTS })?.table;
    assert.ok(table);
    const signature = signatureOf(2);
    assert.ok(tableMarkup('Bricks', table).text.includes(`<abbr title="${signature}">${signature.slice(0, 8)}</abbr>`));
  });

  test('has what is outside of the bricks, so that the total is the estimate', () => {
    const section = sectionOf('Where the time goes', { parts: PARTS, sequential: { ms: 12.5, lowMs: 12, highMs: 13 } });
    assert.match(section?.chart?.text ?? '', />net 12\.50 ms<.*>\(outside of the bricks\) 20\.0 %</s);
    assert.deepEqual(section?.table?.rows.slice(-1), [['(outside of the bricks)', '0', '0', '2.500', '20.0 %']]);
  });

  test('has the repeated blocks of a model above their bricks, and what is beside them above its operators', () => {
    const bricks = [
      { signature: signatureOf(1), sequences: 1 },
      { signature: signatureOf(3), sequences: 1 },
    ];
    const blocks = [{ count: 4, bricks }];
    const text = sectionOf('Where the time goes', { parts: PARTS, blocks })?.chart?.text ?? '';
    const nodes = [...text.matchAll(/flex-grow:(?<grow>[\d.]+)"><span title="[^"]*">(?<name>[^<]*)</g)].map(
      ({ groups }) => `${groups?.['name']} ${groups?.['grow']}`,
    );
    assert.deepEqual(nodes, [
      'net 10.00 ms 1000.00',
      '4 x block 60.0 % 600.00',
      'Relu 40.0 % 400.00',
      'Conv 20.0 % 200.00',
      'Gemm 30.0 % 300.00',
      'Gemm 30.0 % 300.00',
      'Conv 10.0 % 100.00',
      'Conv 10.0 % 100.00',
    ]);
    assert.match(text, /Conv [0-9a-f]{8} in 4 x block of net: 4 x 0\.500? ms; 2 occasions, 20 timed runs/);
  });
});
