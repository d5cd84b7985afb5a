import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrickShare } from '../../../../plugins/dlbricks/estimate/compose.js';
import type { EstimateResult, ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { signatureOf } from '../../../store/sample-measurement.js';
import { COSTS, endToEndOf, estimateOf, FAILURE, MISSING, resultOf, SETTINGS } from './sample-result.js';
import { near } from '../../../support/near.js';

/** A brick that takes `ms` in each of its `count` sequences. */
function part(brick: number, ms: number | undefined, count: number): BrickShare {
  return {
    signature: signatureOf(brick),
    benchmark: signatureOf(brick),
    operators: ['Conv'],
    count,
    measured: { way: 'alone' },
    ms,
    occasions: ms === undefined ? 0 : 1,
    processes: [],
    tried: 1,
    runs: 5,
    costMs: 100,
  };
}

// The whole models take 10 and 20 ms. One run of each of the three bricks: 2 + 3 + 1 ms.
const first: ModelResult = {
  estimate: estimateOf('first', 10, { parts: [part(0, 2, 4), part(1, 3, 1)] }),
  endToEnd: endToEndOf(0, 9.8, 5000, 10.2),
};
const second: ModelResult = {
  estimate: estimateOf('second', 20, { parts: [part(1, 3, 2), part(2, 1, 9)] }),
  endToEnd: endToEndOf(1, 20.2, 2000, 19.8),
};

function summaryOf(models: readonly ModelResult[], changes: Partial<EstimateResult> = {}) {
  return buildReport(resultOf(models, changes), SETTINGS).summary;
}

const NONE = { paper: null, measured: null, as_run: null };

describe('costs in the report', () => {
  test('are in seconds, and include stored measurements with their cost at the time of measuring', () => {
    assert.deepEqual(summaryOf([first, second]).costs, {
      reading_seconds: 0.25,
      preparing_seconds: 0.5,
      bricks_first_seconds: 3.25,
      bricks_again_seconds: 1.5,
      models_first_seconds: 7.75,
      models_again_seconds: 3.5,
      delay_seconds: 0,
      check_seconds: 0,
      known_seconds: 2,
    });
  });

  test('are unknown, as are all ratios, if nothing was measured', () => {
    const { costs, ratios } = summaryOf([first, second], { costs: undefined });
    assert.deepEqual([costs, ratios], [null, NONE]);
  });
});

describe('whole models over bricks', () => {
  const { ratios } = summaryOf([first, second]);

  test("by the paper's figure: one run of each model over one of each different brick", () => {
    near(ratios.paper, (10 + 20) / (2 + 3 + 1));
  });

  test('as measured: each model once over each brick once, with reading on both sides, optimizing on the bricks’', () => {
    near(ratios.measured, (0.25 + 7.75) / (0.25 + 0.5 + 3.25));
  });

  test('as run: with every further measurement on both sides', () => {
    near(ratios.as_run, (0.25 + 7.75 + 3.5) / (0.25 + 0.5 + 3.25 + 1.5));
  });

  test('counts a model that occurs twice once', () => {
    assert.deepEqual(summaryOf([first, second, second]).ratios, ratios);
  });

  test('counts a brick once for each way in which it is measured', () => {
    const among: BrickShare = { ...part(0, 4, 1), benchmark: `${signatureOf(0)} among 1048576 bytes` };
    const third = { estimate: estimateOf('third', 4, { parts: [among] }), endToEnd: endToEndOf(2, 5, 10, 5) };
    near(summaryOf([first, second, third]).ratios.paper, (10 + 20 + 5) / (2 + 3 + 1 + 4));
  });

  test('is unknown if a brick or a whole model has no latency', () => {
    const incomplete: readonly ModelResult[] = [
      { ...second, estimate: estimateOf('part', 20, { coverage: 0.9, missing: [MISSING] }) },
      { ...second, endToEnd: undefined },
      { ...second, endToEnd: endToEndOf(1, FAILURE, 2000, 19.6) },
      { ...second, endToEnd: endToEndOf(1, undefined, 0, undefined) },
    ];
    for (const one of incomplete) assert.deepEqual(summaryOf([first, one]).ratios, NONE);
    assert.deepEqual(summaryOf([]).ratios, NONE);
  });

  test('has no ratio as run if a whole model was not measured again', () => {
    for (const repeat of [undefined, FAILURE]) {
      const once = { ...second, endToEnd: endToEndOf(1, 20, 2000, repeat) };
      assert.deepEqual(summaryOf([first, once]).ratios, { ...ratios, as_run: null });
    }
  });

  test('is unknown if all bricks together take no time', () => {
    const timeless = { ...first, estimate: estimateOf('timeless', 0, { parts: [part(0, 0, 1)] }) };
    assert.equal(summaryOf([timeless]).ratios.paper, null);
  });
});

describe('the text about costs', () => {
  const textOf = (models: readonly ModelResult[], changes: Partial<EstimateResult> = {}): string => {
    return toTable([buildReport(resultOf(models, changes), SETTINGS)], { color: false, wide: true });
  };

  test('has each part, the time that was measured before, and the meaning of each ratio', () => {
    const text = textOf([first, second]);
    assert.match(
      text,
      /^wall time: reading 0\.3 s, optimizing 0\.5 s, each brick once 3\.3 s, repeated 1\.5 s; each model once 7\.8 s, repeated 3\.5 s; 2\.0 s of it measured before$/m,
    );
    assert.match(
      text,
      /^with everything, bricks took 4\.0 s and whole models 8\.0 s, each measured once: 2\.00 times as long$/m,
    );
    assert.match(
      text,
      /^whole models over bricks: 2\.09 with every occasion, 5\.00 of one run of each \(the paper's ratio\)$/m,
    );
  });

  test('does not mention whole models that were not measured, or a store without results', () => {
    const none = { nowMs: 0, beforeMs: 0 };
    const costs = { ...COSTS, bricksFirst: { nowMs: 3000, beforeMs: 0 }, modelsFirst: none, modelsAgain: none };
    const text = textOf([{ ...first, endToEnd: undefined }], { costs });
    assert.match(text, /^wall time: .*each brick once 3\.0 s, repeated 1\.5 s$/m);
    assert.doesNotMatch(text, /each model once|measured before|each measured once|whole models over bricks/);
  });

  test('says that whole models were faster, if they were', () => {
    const costs = { ...COSTS, modelsFirst: { nowMs: 2000, beforeMs: 0 } };
    const text = textOf([first, second], { costs });
    assert.match(
      text,
      /^with everything, bricks took 4\.0 s and whole models 2\.3 s, each measured once: running the models was faster here$/m,
    );
  });

  test('states apart, and in no ratio, what other processes cost', () => {
    const costs = { ...COSTS, delayMs: 12_000 };
    const text = textOf([first, second], { costs });
    assert.match(text, /; waiting and measuring again because of other processes 12\.0 s/);
    assert.match(text, /: 2\.00 times as long$/m);
    assert.deepEqual(summaryOf([first, second], { costs }).ratios, summaryOf([first, second]).ratios);
  });

  test('says that nothing was measured if the store has all bricks, and the time that this saved', () => {
    const none = { nowMs: 0, beforeMs: 0 };
    const costs = {
      ...COSTS,
      bricksFirst: { nowMs: 0, beforeMs: 4000 },
      bricksAgain: { nowMs: 0, beforeMs: 2500 },
      modelsFirst: none,
      modelsAgain: none,
    };
    assert.match(
      textOf([{ ...first, endToEnd: undefined }], { costs }),
      /^nothing was measured: the store had all measurements, which took 6\.5 s before; reading 0\.3 s, optimizing 0\.5 s$/m,
    );
  });

  test('is absent if nothing was measured', () => {
    assert.doesNotMatch(textOf([first], { costs: undefined }), /wall time|whole models over bricks/);
  });
});
