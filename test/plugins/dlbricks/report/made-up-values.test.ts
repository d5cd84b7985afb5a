import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isPartial, buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { reportResult } from '../../../../plugins/dlbricks/report/show-report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { TABLE_EXPORTERS } from '../../../../src/base/exporters/index.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from './sample-result.js';

const madeUpValues = {
  operators: [
    { operator: 'If (NonMaxSuppression)', count: 1 },
    { operator: 'TopK', count: 2 },
  ],
  kernels: 9,
  sequences: [2, 3],
};
const detector: ModelResult = {
  estimate: estimateOf('detector', 25, {
    coverage: 0.5,
    isWhole: true,
    madeUpValues,
    sequential: { ms: 25, lowMs: 11, highMs: undefined },
  }),
  endToEnd: endToEndOf(0, 99.5, 1000, 100.5),
};

const report = buildReport(resultOf([detector]), SETTINGS);
const text = (of = report): string => toTable([of], { color: false });

describe('the report of a model whose work depends on made-up values', () => {
  test('says so before the number, with the operators and ways out', () => {
    const [warning = ''] = text().split('┌');
    assert.match(warning, /^warning: detector: the estimate may be far off/);
    assert.match(warning, /made-up values decide the work of If \(NonMaxSuppression\), 2 TopK/);
    assert.match(warning, /the sizes in 6 further nodes; 50\.0 % of the sequences/);
    assert.match(warning, /--values-of-run .*`values: run`.*--input NAME=VALUE/);
    assert.equal(text().split('may be far off').length, 2);
  });

  test('marks the number in the row, has no sharp interval, and still has the error', () => {
    assert.match(text(), /made up: 25\.00 ± - .*50\.0 %.*-75\.0 %/);
  });

  test('has them in its row of the document', () => {
    const [model] = report.models;
    assert.deepEqual(model?.made_up_values, { operators: madeUpValues.operators, kernels: 9 });
    assert.deepEqual([model?.estimate_low_ms, model?.estimate_high_ms, model?.interval_hit], [11, null, null]);
    assert.equal(report.warnings[0]?.cause, 'values');
    assert.ok(isPartial(report));
  });

  test('has the warning above the table of Markdown', () => {
    assert.match(TABLE_EXPORTERS.markdown(reportResult([report])), /^warning: detector: .*\n\n\| model/);
  });

  test('says why values of a run do not help', () => {
    const without = buildReport(resultOf([{ ...detector, runWith: 'made up' }]), SETTINGS);
    assert.match(text(without), /no file on this machine has the weights/);
    assert.equal(without.models[0]?.values_of_run, 'made up');
    const inside = buildReport(resultOf([{ ...detector, runWith: 'own' }]), SETTINGS);
    assert.match(text(inside), /the run did not give these values: .*--input NAME=VALUE/);
  });

  test('is as always if there are no such values', () => {
    const sure = buildReport(
      resultOf([{ estimate: estimateOf('sure', 25), endToEnd: undefined, runWith: 'own' }]),
      SETTINGS,
    );
    assert.ok(!text(sure).includes('warning') && !isPartial(sure));
    assert.deepEqual([sure.models[0]?.made_up_values, sure.models[0]?.values_of_run], [null, 'own']);
  });
});

test('the report of a model whose inputs got assumed values names them', () => {
  const assumed = [
    { name: 'ids', values: '0 to 9' },
    { name: 'mask', values: '1' },
  ];
  const result = resultOf([{ ...detector, inputs: { assumed, sizes: [] } }, { ...detector }]);
  const line = /^inputs got assumed values, .*: detector \(ids 0 to 9, mask 1\); --input NAME=VALUE/m;
  assert.match(text(buildReport(result, SETTINGS)), line);
  assert.doesNotMatch(text(), /inputs got assumed values/);
});

describe('the report of a model with a loop', () => {
  const placed = [{ kernels: ['k'], operators: ['Scan', 'Relu'], ms: 4, isPredicted: false }];
  const looping = resultOf([{ ...detector, estimate: estimateOf('looping', 4, { placed }) }]);

  test('warns above the table at the layer cut only', () => {
    assert.match(text(buildReport(looping, SETTINGS)), /^warning: looping: has Scan, .*too high; use --cut kernel\n/);
    assert.doesNotMatch(text(buildReport(looping, { ...SETTINGS, cut: 'kernel' })), /use --cut kernel/);
  });
});

describe('the report of a model of short kernels', () => {
  const reportOn = (profileMs: number) => {
    const estimate = estimateOf('chain', 2, { profileMs });
    return buildReport(resultOf([{ estimate, endToEnd: undefined }]), SETTINGS);
  };

  test('says before the number that the cost of the profile decides, and by how much', () => {
    const [warning = ''] = text(reportOn(0.6)).split('┌');
    assert.match(warning, /^warning: chain: its kernels are short: .* adds 0\.600? ms .* may be off by 30\.0 %/);
    assert.match(warning, /measure the whole model/);
  });

  test('says nothing where the cost is a small part', () => {
    assert.deepEqual(reportOn(0.15).warnings, []);
  });
});
