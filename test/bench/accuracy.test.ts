import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSettings } from '../../plugins/dlbricks/commands/options.js';
import { configurations } from '../../bench/accuracy/configurations.js';
import { intervalsThatHold } from '../../bench/accuracy/document.js';
import { SETTINGS } from '../../bench/accuracy/run-configuration.js';
import { TimeLeft } from '../../bench/accuracy/time-left.js';

describe('the accuracy benchmark', () => {
  test('measures as the command does by default', () => {
    assert.deepEqual({ ...parseSettings({}), measure_end_to_end: true }, SETTINGS);
  });

  test('has every zoo model with each number of threads, and only small ones in batches', async () => {
    const all = await configurations();
    const [first] = all;
    assert.ok((first?.models.length ?? 0) >= 13);
    for (const { batch, models } of all) {
      if (batch > 1) assert.ok(models.every(({ multiplyAccumulates: work = Infinity }) => work < 4e9));
    }
  });
});

test('a share of intervals that hold is stated with the number of models', () => {
  const models = [true, false, true, true, null].map((hit) => ({ interval_hit: hit }));
  assert.equal(intervalsThatHold(models), '3 of 4 models, 75.0 %');
});

describe('the time left', () => {
  test('follows from the share that is done', () => {
    const left = new TimeLeft([10, 30]);
    left.update(0, 0, 1000);
    assert.equal(left.text, '');
    left.update(0, 1, 11_000);
    assert.equal(left.text, 'about 30 s left');
    left.update(1, 1, 41_000);
    assert.equal(left.share, 1);
  });

  test('never has a share that decreases', () => {
    const left = new TimeLeft([1]);
    left.update(0, 0.9, 0);
    left.update(0, 0.1, 1000);
    assert.equal(left.share, 0.9);
  });
});
