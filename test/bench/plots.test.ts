import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plotResiduals } from '../../bench/accuracy/plot-residuals.js';
import { plotGrowth, plotPredictions } from '../../bench/accuracy/plots.js';
import { logScale, signedScale } from '../../bench/accuracy/scales.js';
import { LABEL, linearScale, widthOf } from '../../src/web/plots/svg.js';

/** Measured and estimated latency in ms, half the interval in %; 1 thread, batch 1 (docs/results/accuracy.md of 2026-11-21). */
const MODELS: readonly (readonly [name: string, measuredMs: number, estimateMs: number, margin: number])[] = [
  ['alexnet', 25.41, 26.45, 29.4],
  ['vgg16', 221.1, 231.1, 29.8],
  ['vgg19', 271.9, 285.2, 29.7],
  ['squeezenet1.1', 5.364, 6.238, 30.0],
  ['resnet18', 25.29, 26.22, 29.6],
  ['resnet50', 56.9, 58.18, 30.0],
  ['inception_v1', 21.92, 21.16, 29.9],
  ['inception_v3', 78.13, 78.26, 30.0],
  ['densenet121', 60.85, 44.7, 29.9],
  ['mobilenet_v2', 6.934, 7.24, 29.8],
  ['bert_base', 191.2, 205.1, 29.6],
  ['gpt2', 273.8, 275.1, 30.7],
  ['vit_b_16', 269.8, 281.3, 30.9],
  ['light_bvlc_alexnet', 43.73, 38.61, 31.4],
  ['light_inception_v2', 27.28, 26.73, 32.3],
  ['light_resnet50', 56.23, 58.22, 30.0],
  ['light_squeezenet', 5.227, 6.263, 30.4],
];

const POINTS = MODELS.map(([label, x, y]) => ({ x, y, label }));

const RESIDUALS = MODELS.map(([label, measuredMs, estimateMs, margin]) => {
  const interval = [estimateMs * (1 - margin / 100), estimateMs * (1 + margin / 100)] as const;
  return { label, measuredMs, estimateMs, interval };
});

const GROWTH = MODELS.map(([model], i) => ({ model, wholeSeconds: (i + 1) * 4, brickSeconds: Math.sqrt(i + 1) }));

interface Box {
  readonly label: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The boxes of the labels before they are turned; `turned` is the point around which a label is turned. */
function labelsIn(svg: string): readonly (Box & { readonly turned: readonly [number, number] | undefined })[] {
  return [...svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)" class="label"([^>]*)>([^<]*)</g)].map((match) => {
    const [, x, y, attributes = '', label = ''] = match;
    const width = widthOf(label);
    const left = Number(x) - (attributes.includes('text-anchor="end"') ? width : 0);
    const top = Number(y) - LABEL.ascent;
    const place = /translate\(([-\d.]+) ([-\d.]+)\) rotate\(-45\)/.exec(attributes);
    const turned = place === null ? undefined : ([Number(place[1]), Number(place[2])] as const);
    return { label, left, top, right: left + width, bottom: top + LABEL.height, turned };
  });
}

function sizeOf(svg: string): readonly [number, number] {
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  return [Number(width), Number(height)];
}

function assertApart(boxes: readonly Box[]): void {
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      const overlap = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      assert(!overlap, `${a.label} and ${b.label}`);
    }
  }
}

function assertInside(boxes: readonly Box[], svg: string): void {
  const [width, height] = sizeOf(svg);
  for (const { label, left, top, right, bottom } of boxes) {
    assert(left >= 0 && top >= 0 && right <= width && bottom <= height, label);
  }
}

/** Boxes of labels that are turned by -45°: `along` in coordinates that turn with them, `outer` upright around them. */
function turnedBoxes(svg: string): { readonly along: readonly Box[]; readonly outer: readonly Box[] } {
  const all = labelsIn(svg).map(({ turned: [x, y] = [0, 0], ...box }) => ({ box, x, y }));
  const half = Math.SQRT1_2;
  const along = all.map(({ box, x, y }) => {
    const right = (x - y) * half;
    const down = (x + y) * half;
    return {
      label: box.label,
      left: box.left + right,
      right: box.right + right,
      top: box.top + down,
      bottom: box.bottom + down,
    };
  });
  const outer = all.map(({ box, x, y }) => {
    const corners = [box.left, box.right].flatMap((a) => [box.top, box.bottom].map((b) => [a, b] as const));
    const xs = corners.map(([a, b]) => x + (a + b) * half);
    const ys = corners.map(([a, b]) => y + (b - a) * half);
    return {
      label: box.label,
      left: Math.min(...xs),
      right: Math.max(...xs),
      top: Math.min(...ys),
      bottom: Math.max(...ys),
    };
  });
  return { along, outer };
}

describe('predicted against measured', () => {
  test('is SVG with every point and its name, escaped', () => {
    const plot = plotPredictions('Latency & more', [
      { x: 3, y: 3.1, label: 'a<b' },
      { x: 150, y: 140, label: 'vgg' },
    ]);
    assert.equal(plot.match(/<circle/g)?.length, 2);
    assert.match(plot, /class="label"[^>]*>a&#60;b/);
    assert.match(plot, /Latency &#38; more/);
    assert.doesNotMatch(plot, /NaN|Infinity|undefined/);
  });

  for (const [what, points] of [
    ['the models of docs/results/accuracy.md', POINTS],
    ['twelve models of the same latency', POINTS.slice(0, 12).map(({ label }) => ({ x: 10, y: 10, label }))],
    [
      'points in the corners',
      [...POINTS, { x: 1, y: 1, label: 'the_smallest_of_all' }, { x: 1000, y: 1000, label: 'the_largest' }],
    ],
  ] as const) {
    test(`has all names, without overlaps, all inside: ${what}`, () => {
      const svg = plotPredictions('Latency', points);
      const labels = labelsIn(svg);
      assert.deepEqual(labels.map(({ label }) => label).sort(), points.map(({ label }) => label).sort());
      assertApart(labels);
      assertInside(labels, svg);
    });
  }
});

describe('residuals', () => {
  test('have the error in percent with the interval as whiskers, a name at each', () => {
    const svg = plotResiduals('Error', [
      { label: 'low', measuredMs: 100, estimateMs: 95, interval: [90, 105] },
      { label: 'bare', measuredMs: 10, estimateMs: 11, interval: undefined },
    ]);
    const tickAt = (value: number): number =>
      Number(new RegExp(`<text x="([\\d.]+)"[^>]*text-anchor="middle">${value}<`).exec(svg)?.[1]);
    const perPercent = (tickAt(10) - tickAt(-10)) / 20;
    const at = (error: number): string => (tickAt(0) + error * perPercent).toFixed(1);
    const points = [...svg.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x).toFixed(1));
    // The fastest model first.
    assert.deepEqual(points, [at(10), at(-5)]);
    const whiskers = [...svg.matchAll(/<polyline points="([\d.]+),[\d.]+ ([\d.]+),[\d.]+" fill="none" class="axis"/g)];
    assert(whiskers.some(([, from, to]) => from === at(-10) && to === at(5)));
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  });

  test('have names that stand apart and inside, long ones too', () => {
    const long = {
      ...RESIDUALS[0],
      label: 'a_model_with_a_rather_long_name',
      measuredMs: 1,
      estimateMs: 1,
      interval: undefined,
    };
    const svg = plotResiduals('Error', [...RESIDUALS, long]);
    const labels = labelsIn(svg);
    assert.equal(labels.length, MODELS.length + 1);
    assertApart(labels);
    assertInside(labels, svg);
  });
});

describe('benchmarking time', () => {
  test('has a curve for bricks and one for whole models, and a name at each step', () => {
    const plot = plotGrowth('Time', GROWTH.slice(0, 3));
    assert.equal(plot.match(/<circle/g)?.length, 6);
    assert.deepEqual(
      labelsIn(plot).map(({ label }) => label),
      GROWTH.slice(0, 3).map(({ model }) => model),
    );
    assert.doesNotMatch(plot, /NaN|Infinity|undefined/);
  });

  for (const times of [1, 4]) {
    test(`has names that stand apart and inside: ${times * MODELS.length} models`, () => {
      const svg = plotGrowth('Time', Array.from({ length: times }, () => GROWTH).flat());
      const { along, outer } = turnedBoxes(svg);
      assert.equal(along.length, times * MODELS.length);
      assertApart(along);
      assertInside(outer, svg);
    });
  }
});

test('ticks are round and within their axes', () => {
  assert.deepEqual(linearScale(104, [0, 100]).ticks, [0, 50, 100, 150]);
  assert.deepEqual(logScale([3, 150], [0, 1]).ticks, [5, 10, 20, 50, 100]);
  assert.deepEqual(signedScale([-4, 7], [0, 1]).ticks, [-4, -2, 0, 2, 4, 6, 8]);
});
