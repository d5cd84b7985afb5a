import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { linePlot } from '../../../src/web/plots/line-plot.js';

const PLOT = {
  title: 'Ratios',
  xTitle: 'length',
  yTitle: 'ratio',
  positions: ['1', '2', '3'],
  series: [
    { label: 'all known', values: [4, 3, 2] },
    { label: '<one missing>', values: [1, undefined, 2] },
  ],
};

/** The y coordinates of the dots. */
function dotsIn(svg: string): readonly number[] {
  return [...svg.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/g)].map(([, y]) => Number(y));
}

describe('a plot of lines', () => {
  test('has a dot for each known value, larger ones higher', () => {
    const [four = 0, three = 0, two = 0, ...others] = dotsIn(linePlot(PLOT));
    assert.ok(four < three && three < two, `${four} ${three} ${two}`);
    assert.equal(others.length, 2);
  });

  test('connects neighbours only, so that no line crosses a missing value', () => {
    const segments = (svg: string): number => svg.match(/stroke-width="1.5"/g)?.length ?? 0;
    assert.equal(segments(linePlot({ ...PLOT, isConnected: true })), 2);
    assert.equal(segments(linePlot(PLOT)), 0);
  });

  test('puts numbers at their places on the axis, and connects them over missing values', () => {
    const svg = linePlot({ ...PLOT, positions: [10, 20, 100], isConnected: true });
    const [first = 0, second = 0, third = 0] = [...svg.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    assert.ok(Math.abs((third - first) / (second - first) - 9) < 0.1, `${first} ${second} ${third}`);
    assert.equal(svg.match(/stroke-width="1.5"/g)?.length, 3);
  });

  test('covers no dot by an equal one of another series', () => {
    const series = [PLOT.series[0], PLOT.series[0]].flatMap((one) => one ?? []);
    const circles = [...linePlot({ ...PLOT, series }).matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    assert.ok((circles[3] ?? 0) - (circles[0] ?? 0) >= 6, circles.join(' '));
  });

  test('puts a dot at its number, also beside another series', () => {
    const series = [PLOT.series[0], PLOT.series[0]].flatMap((one) => one ?? []);
    const plot = { ...PLOT, positions: [10, 20, 100], series };
    const circles = [...linePlot(plot).matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => x);
    assert.deepEqual(circles.slice(0, 3), circles.slice(3));
  });

  test('draws a dashed series in the color of the one before it', () => {
    const [one, two] = PLOT.series;
    assert.ok(one && two);
    const svg = linePlot({ ...PLOT, series: [one, { ...two, isDashed: true }, one] });
    const keys = [...svg.matchAll(/stroke="(#\w+)" stroke-width="3"( stroke-dasharray)?/g)];
    assert.deepEqual(
      keys.map(([, color, dashes]) => [color === keys[0]?.[1], dashes !== undefined]),
      [
        [true, false],
        [true, true],
        [false, false],
      ],
    );
  });

  test('names its series and positions, and escapes markup in them', () => {
    const svg = linePlot(PLOT);
    assert.ok(svg.includes('>all known<'));
    assert.ok(!svg.includes('<one missing'));
  });

  test('draws only its axes if no value is known', () => {
    const svg = linePlot({ ...PLOT, series: [{ label: 'none', values: [undefined] }] });
    assert.deepEqual(dotsIn(svg), []);
    assert.ok(!svg.includes('NaN'));
  });

  test('gives each of fifty long names its place, below the axis', () => {
    const positions = Array.from({ length: 50 }, (_, index) => `icpe2020_${index}_a_long_name`);
    const svg = linePlot({ ...PLOT, positions, series: [{ label: 'one', values: positions.map(() => 1) }] });
    const places = [...svg.matchAll(/translate\(([\d.]+) [\d.]+\) rotate\(-45\)/g)].map(([, x]) => Number(x));
    assert.equal(places.length, 50);
    const steps = places.slice(1).map((x, index) => x - (places[index] ?? 0));
    assert.ok(Math.min(...steps) >= 19, `${Math.min(...steps)}`);
  });
});

describe('bars and boxes', () => {
  const about = { title: 'Times', xTitle: 'model', yTitle: 'ms' };
  const bars = (svg: string): readonly (readonly number[])[] => {
    return [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g)].map((found) =>
      found.slice(1).map(Number),
    );
  };

  test('stacks each series on those before it', () => {
    const series = [
      { label: 'a', values: [1, 2] },
      { label: 'b', values: [3, undefined] },
    ];
    const [first, , second] = bars(linePlot({ ...about, positions: ['x', 'y'], series, isStacked: true }));
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(first[0], second[0]);
    const [top = NaN, height = NaN] = second.slice(1);
    assert.ok(Math.abs(top + height - (first[1] ?? NaN)) < 0.2, 'the second begins where the first ends');
    assert.ok(Math.abs(height / (first[2] ?? NaN) - 3) < 0.05);
  });

  test('draws a box from quartile to quartile, for known positions', () => {
    const box = { least: 1, from: 2, to: 4, most: 8 };
    const series = [{ label: 'median', values: [3, undefined] }];
    const found = bars(linePlot({ ...about, positions: ['x', 'y'], series, boxes: [box, undefined] }));
    assert.equal(found.length, 1);
  });
});
