import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settingsOf } from '../../plugins/dlbricks/commands/options.js';
import { configurations } from '../../bench/accuracy/configurations.js';
import { plotGrowth, plotPredictions } from '../../bench/accuracy/plots.js';
import { SETTINGS } from '../../bench/accuracy/run-configuration.js';
import { linearScale, logScale } from '../../bench/accuracy/svg.js';
import { TimeLeft } from '../../bench/accuracy/time-left.js';

describe('the accuracy benchmark', () => {
  test('measures as the command does by default', () => {
    assert.deepEqual({ ...settingsOf({}), measure_end_to_end: true }, SETTINGS);
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

describe('the time left', () => {
  test('comes from what was done by then', () => {
    const left = new TimeLeft([10, 30]);
    left.update(0, 0, 1000);
    assert.equal(left.text, '');
    left.update(0, 1, 11_000);
    assert.equal(left.text, 'about 30 s left');
    left.update(1, 1, 41_000);
    assert.equal(left.share, 1);
  });

  test('never goes backwards', () => {
    const left = new TimeLeft([1]);
    left.update(0, 0.9, 0);
    left.update(0, 0.1, 1000);
    assert.equal(left.share, 0.9);
  });
});

describe('plots', () => {
  const points = [
    { x: 3, y: 3.1, label: 'a<b' },
    { x: 150, y: 140, label: 'vgg' },
  ];

  test('are SVG with every point and its name, escaped', () => {
    const plot = plotPredictions('Latency & more', points);
    assert.equal(plot.match(/<circle/g)?.length, points.length);
    assert.match(plot, /a&#60;b/);
    assert.match(plot, /Latency &#38; more/);
    assert.doesNotMatch(plot, /NaN|Infinity|undefined/);
  });

  test('have a curve for bricks and one for whole models', () => {
    const growth = [1, 2, 3].map((n) => ({ model: `m${n}`, wholeSeconds: n * 4, brickSeconds: Math.sqrt(n) }));
    const plot = plotGrowth('Time', growth);
    assert.equal(plot.match(/<circle/g)?.length, 6);
    assert.doesNotMatch(plot, /NaN|Infinity|undefined/);
  });

  test('have round ticks within their axes', () => {
    assert.deepEqual(linearScale(104, [0, 100]).ticks, [0, 50, 100, 150]);
    assert.deepEqual(logScale([3, 150], [0, 1]).ticks, [5, 10, 20, 50, 100]);
  });
});
