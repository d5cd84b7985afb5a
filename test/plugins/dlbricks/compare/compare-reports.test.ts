import assert from 'node:assert/strict';
import { buildProvenance } from '../../../../src/agent/provenance.js';
import { describe, test } from 'node:test';
import {
  compareReports,
  compareEstimates,
  intervalFactor,
  type Comparable,
  SAME_MEASUREMENTS,
} from '../../../../plugins/dlbricks/compare/compare-reports.js';
import { comparisonDocument, shownComparison } from '../../../../plugins/dlbricks/compare/comparison-result.js';
import { seenFrom, judgeRatio } from '../../../../plugins/dlbricks/compare/comparison.js';
import type { ModelReport, Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { normalNumbers } from '../support/noise.js';
import { comparedReport, modelReport } from './sample-reports.js';

const near = (actual: number | null | undefined, expected: number, within = 1e-9): void => {
  assert.ok(Math.abs((actual ?? NaN) - expected) < within, `${actual} instead of ${expected}`);
};

function withInterval(ms: number, halfWidth: number): ModelReport {
  return modelReport('m', { estimate_ms: ms, estimate_low_ms: ms - halfWidth, estimate_high_ms: ms + halfWidth });
}

describe('the ratio of two estimates', () => {
  test('has an interval from both intervals, in quadrature on a logarithmic scale', () => {
    const ratio = compareEstimates(withInterval(100, 3), withInterval(110, 4));
    near(ratio?.ratio, 1.1);
    near(ratio?.low, 1.1 * Math.exp(-Math.hypot(Math.log(106 / 110), Math.log(103 / 100))));
    near(ratio?.high, 1.1 * Math.exp(Math.hypot(Math.log(114 / 110), Math.log(97 / 100))));
    assert.ok(ratio !== undefined && judgeRatio(ratio) === 'slower');
    assert.equal(judgeRatio({ ratio: 1.03, low: 0.99, high: 1.07 }), 'no difference seen');
    assert.equal(judgeRatio({ ratio: 0.9, low: 0.85, high: 0.95 }), 'faster');
    near(seenFrom({ ratio: 1, low: 0.98, high: 1.03 }), 0.03);
  });

  test('has no verdict where an interval is not known or reaches 0', () => {
    const unknown = modelReport('m', { estimate_ms: 100, estimate_low_ms: null, estimate_high_ms: null });
    const wide = modelReport('m', { estimate_ms: 100, estimate_low_ms: 0, estimate_high_ms: 300 });
    for (const one of [unknown, wide]) {
      const ratio = compareEstimates(withInterval(100, 3), one);
      assert.deepEqual([ratio?.ratio, ratio && judgeRatio(ratio)], [1, undefined]);
    }
    assert.equal(compareEstimates(withInterval(100, 3), modelReport('m', { estimate_ms: null })), undefined);
  });

  test('has wider intervals the more of them hold together', () => {
    // Quantiles of the normal distribution at 0.975, and at 1 - 0.05 / 2 / 100.
    near(intervalFactor(1), 1.959964, 5e-4);
    near(intervalFactor(100), 3.480756, 5e-4);
  });
});

test('two reports with the same measurements have no verdict', () => {
  const ends = { estimate_ms: 10, estimate_low_ms: 9, estimate_high_ms: 11 };
  const of = (latencyMs: number): Report => {
    return comparedReport({}, [modelReport('a', ends, [{ signature: 'one', latency_ms: latencyMs, sequences: 1 }])]);
  };
  const compared = (after: Report) => {
    const comparison = compareReports([of(10)], [after]);
    const { notes } = shownComparison(comparisonDocument(comparison, { before: 'a', after: 'b' })).result();
    const [model] = comparison.models;
    return { verdict: model?.verdict, why: model?.no_verdict, notes: notes.join('\n') };
  };
  const same = compared(of(10));
  assert.deepEqual([same.verdict, same.why], [null, SAME_MEASUREMENTS]);
  assert.doesNotMatch(same.notes, /the time of measuring/);
  const others = compared(of(11));
  assert.deepEqual([others.verdict, others.why], ['no difference seen', null]);
  assert.match(others.notes, /what differs is the time of measuring/);
});

describe('two reports', () => {
  const slower = (factor: number): Report =>
    comparedReport({ framework_version: '1.30.0' }, [
      modelReport('a', { estimate_ms: 10 * factor, estimate_low_ms: 9.9 * factor, estimate_high_ms: 10.1 * factor }),
    ]);

  test('differ in what their provenances state, and not where one of an earlier version states nothing', () => {
    const of = (host: string, weights: 'own' | 'made_up'): Report => ({
      ...slower(1),
      provenance: {
        ...buildProvenance({ models: [{ name: 'a', ranWith: weights }] }),
        host,
      },
    });
    const { aspects } = compareReports([of('one', 'own')], [of('other', 'made_up')]);
    assert.deepEqual(aspects, [
      { aspect: 'host', before: 'one', after: 'other' },
      { aspect: 'weights', before: 'own', after: 'made_up' },
    ]);
    assert.deepEqual(compareReports([slower(1)], [of('other', 'own')]).aspects, []);
  });

  test('name what the agents ran in where both documents state it', () => {
    const surroundings = { node: '20.1.0', libc: null, kernel: '6.1', container: null, decoder: null, environment: {} };
    const within = (changes: Partial<typeof surroundings & { environment: { OMP_NUM_THREADS?: string } }>): Report => ({
      ...slower(1),
      provenance: { ...buildProvenance({}), surroundings: { ...surroundings, ...changes } },
    });
    const { aspects } = compareReports(
      [within({})],
      [within({ kernel: '6.8', environment: { OMP_NUM_THREADS: '1' } })],
    );
    assert.deepEqual(aspects, [
      { aspect: 'kernel', before: '6.1', after: '6.8' },
      { aspect: 'environment', before: '', after: 'OMP_NUM_THREADS=1' },
    ]);
  });

  test('put a change down to the only aspect that differs, and to none of several', () => {
    const before = comparedReport({}, [
      modelReport('a', { estimate_ms: 10, estimate_low_ms: 9.9, estimate_high_ms: 10.1 }),
    ]);
    assert.deepEqual(compareReports([before], [slower(1.1)]).aspects, [
      { aspect: 'framework_version', before: '1.27.0', after: '1.30.0' },
    ]);
    const other = { ...slower(1.1), settings: { ...before.settings, runs: 7 } };
    assert.deepEqual(
      compareReports([before], [other]).aspects.map(({ aspect }) => aspect),
      ['framework_version', 'runs'],
    );
  });

  test('are compared by numbers of threads only where one of them has several', () => {
    const on = (threads: number): Report => comparedReport({ threads }, [modelReport('a', { estimate_ms: threads })]);
    assert.deepEqual(
      compareReports([on(1)], [on(2)]).models.map((model) => [model.threads_before, model.threads_after]),
      [[1, 2]],
    );
    const { models, unpaired } = compareReports([on(1), on(2)], [on(2)]);
    assert.deepEqual(
      models.map((model) => [model.threads_before, model.threads_after]),
      [[2, 2]],
    );
    assert.deepEqual(unpaired, {
      before: [
        {
          model: 'a',
          batch: 1,
          dimensions: '',
          threads: 1,
          settings: 'default settings, up to 2 layers a brick',
          label: 'a, 1 thread',
        },
      ],
      after: [],
    });
  });

  test('are compared by settings only where one of them has several', () => {
    const on = (optimization_level: 'all' | 'basic', ms: number): Report => {
      return comparedReport({ optimization_level }, [modelReport('a', { estimate_ms: ms })]);
    };
    const rowsOf = (...sides: Parameters<typeof compareReports>) => {
      return compareReports(...sides).models.map(({ label, ratio }) => [label, ratio]);
    };
    assert.deepEqual(rowsOf([on('all', 1)], [on('basic', 2)]), [['a', 2]]);
    assert.deepEqual(rowsOf([on('all', 1), on('basic', 2)], [on('basic', 6), on('all', 2)]), [
      ['a, default settings', 2],
      ['a, optimizer basic', 3],
    ]);
  });

  test('label the rows of one model by what tells them apart', () => {
    const of = (batch: number, seq: number): Report => {
      const report = comparedReport({}, [
        modelReport('a', {
          dimensions: [
            { name: 'N', size: batch },
            { name: 'seq', size: seq },
            { name: 'past', size: 0 },
          ],
        }),
        modelReport(`only ${seq}`, {}),
      ]);
      return { ...report, settings: { ...report.settings, batch } };
    };
    const labels = (...reports: readonly Report[]) => compareReports(reports, reports).models.map(({ label }) => label);
    assert.deepEqual(labels(of(1, 128)), ['a', 'only 128']);
    assert.deepEqual(labels(of(1, 64), of(8, 128)), [
      'a, batch 1, seq=64',
      'only 64',
      'a, batch 8, seq=128',
      'only 128',
    ]);
    const ofSize = (...sizes: readonly number[]) => {
      const dimensions = sizes.map((size) => ({ name: 'seq', size }));
      return [comparedReport({}, [modelReport('a', { dimensions })])];
    };
    const { before, after } = compareReports(ofSize(), ofSize(64)).unpaired;
    assert.deepEqual(
      [...before, ...after].map(({ label }) => label),
      ['a', 'a, seq=64'],
    );
  });

  test('say why there is no verdict, and what helps', () => {
    const of = (changes: Partial<ModelReport>, reason: string | null = null): Report => {
      const known = { estimate_ms: 10, estimate_low_ms: 9, estimate_high_ms: 11 };
      const report = comparedReport({}, [modelReport('a', { ...known, ...changes })]);
      return { ...report, summary: { ...report.summary, no_interval_reason: reason } };
    };
    const none = { estimate_low_ms: null, estimate_high_ms: null };
    const ofRuns: Comparable = { ...of(none), settings: { batch: 1, plugin: 'latency' } };
    const reasonOf = (before: Comparable, after: Comparable) => {
      return compareReports([before], [after]).models[0]?.no_verdict ?? '';
    };
    assert.equal(reasonOf(of({}), of({})), '');
    assert.match(reasonOf(ofRuns, ofRuns), /^times of the plugin latency have no interval; [^;]* measures both sides$/);
    const wide = of({ estimate_low_ms: 0 });
    assert.match(reasonOf(wide, of({})), /^an interval reaches 0 \(before\); .* quieter machine$/);
    assert.match(reasonOf(wide, wide), /^an interval reaches 0 \(before and after\); [^;]*$/);
    const open = of({ estimate_high_ms: null });
    assert.match(reasonOf(of({}), open), /^work depends on made-up values \(after\); .*--input/);
    assert.match(reasonOf(wide, open), /^an interval reaches 0 \(before\); .*; work depends .* \(after\); /);
    assert.match(
      reasonOf(of({}), of(none, 'bricks were measured once')),
      /^an estimate has no interval \(after: bricks were measured once\); .*--repeat-limit/,
    );
  });

  test('do not compare other graphs of one name, or parts of models', () => {
    const of = (changes: Partial<ModelReport>): Report =>
      comparedReport({}, [modelReport('a', { estimate_ms: 1, ...changes })]);
    const reasonOf = (before: Report, after: Report) => compareReports([before], [after]).models[0]?.reason;
    assert.equal(reasonOf(of({ graph_signature: 'x' }), of({ graph_signature: 'y' })), 'the two have different graphs');
    assert.equal(reasonOf(of({}), of({ coverage: 0.5 })), 'the estimate after covers only a part of the model');
    assert.equal(reasonOf(of({}), of({})), null);
  });

  test('name the bricks that changed, what each model loses, and the time in bricks of one side alone', () => {
    const brick = (signature: string, ms: number, sequences: number) => ({ signature, latency_ms: ms, sequences });
    const of = (conv: number, other: string): Report =>
      comparedReport({}, [
        modelReport('a', { estimate_ms: 10 }, [brick('conv', conv, 3), brick('relu', 1, 1), brick(other, 1, 1)]),
        modelReport('b', { estimate_ms: 10 }, [brick('conv', conv, 1)]),
      ]);
    const { bricks, unmatched } = compareReports([of(2, 'x')], [of(3, 'y')]);
    assert.deepEqual(
      bricks.map(({ signature, verdict, difference_ms: ms, models }) => [signature, verdict, ms, models.length]),
      [
        ['conv', 'slower', 4, 2],
        ['relu', 'no difference seen', 0, 1],
      ],
    );
    assert.deepEqual(unmatched, { before: 1 / (6 + 1 + 1 + 2), after: 1 / (9 + 1 + 1 + 3) });
  });

  test('of the same setup are called different in at most one of twenty comparisons', () => {
    const next = normalNumbers(7);
    const SPREAD = 0.03;
    const report = (): Report => {
      const models = Array.from({ length: 10 }, (_, index) => {
        const ms = 10 * Math.exp(SPREAD * next());
        const half = intervalFactor(1) * SPREAD * ms;
        const bricks = Array.from({ length: 20 }, (_, at) => {
          return { signature: `${index}-${at}`, latency_ms: Math.exp(SPREAD * next()), sequences: 1 };
        });
        const interval = { estimate_low_ms: ms - half, estimate_high_ms: ms + half };
        return modelReport(`m${index}`, { estimate_ms: ms, ...interval }, bricks);
      });
      return comparedReport({}, models, { spread_percent: SPREAD * 100 });
    };
    let ofModels = 0;
    let ofBricks = 0;
    const rounds = 200;
    for (let round = 0; round < rounds; round++) {
      const { models, bricks } = compareReports([report()], [report()]);
      const differs = (verdict: string | null): boolean => verdict === 'faster' || verdict === 'slower';
      if (models.some(({ verdict }) => differs(verdict))) ofModels++;
      if (bricks.some(({ verdict }) => differs(verdict))) ofBricks++;
    }
    // Four standard deviations of a count with probability 0.05 above its mean.
    assert.ok(ofModels <= 22 && ofBricks <= 22, `${ofModels} and ${ofBricks} of ${rounds}`);
  });
});
