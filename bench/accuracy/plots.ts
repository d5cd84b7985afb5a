import { escapedMarkup } from '../../src/base/markup.js';
import { labelsBeside } from './labels.js';
import {
  LABEL,
  svgLine,
  linearScale,
  type Plot,
  type Point,
  PLOT,
  svg,
  svgText,
  widthOf,
} from '../../src/web/plots/svg.js';
import { logScale } from './scales.js';

const BANDS = [
  { share: 0.1, fill: '#bf8700', label: '±10 %' },
  { share: 0.05, fill: '#1a7f37', label: '±5 %' },
] as const;

/** Predicted against measured latency, both logarithmic; `x` is measured, `y` predicted, in ms. */
export function plotPredictions(title: string, points: readonly Point[]): string {
  const values = points.flatMap(({ x, y }) => [x, y]);
  const x = logScale(values, PLOT.x);
  const y = logScale(values, PLOT.y);
  const low = Math.min(...values) / 1.25;
  const high = Math.max(...values) * 1.25;
  const bands = BANDS.map(({ share, fill }) => {
    const corners = [
      [low, low * (1 + share)],
      [high, high * (1 + share)],
      [high, high * (1 - share)],
      [low, low * (1 - share)],
    ] as const;
    const path = corners.map(([a, b]) => `${x.at(a).toFixed(1)},${y.at(b).toFixed(1)}`).join(' ');
    return `<polygon points="${path}" fill="${fill}" opacity="0.22" clip-path="url(#plot)"/>`;
  });
  const [left, right] = PLOT.x;
  const [bottom, top] = PLOT.y;
  const clip = `<clipPath id="plot"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath>`;
  const legend = BANDS.map(({ fill, label }, index) => {
    const at = top + 14 + (1 - index) * 20;
    const swatch = `<rect x="${left + 14}" y="${at - 11}" width="14" height="14" fill="${fill}" opacity="0.4"/>`;
    return swatch + svgText(left + 34, at, label);
  });
  const marks = points.map(({ x: measured, y: predicted, label }) => {
    const tip = `${label}: measured ${measured.toFixed(2)} ms, predicted ${predicted.toFixed(2)} ms`;
    return `<circle cx="${x.at(measured).toFixed(1)}" cy="${y.at(predicted).toFixed(1)}" r="4" fill="#0969da"><title>${escapedMarkup(tip)}</title></circle>`;
  });
  const places = points.map((point) => ({ x: x.at(point.x), y: y.at(point.y), label: point.label }));
  const key = { left, top, right: left + 100, bottom: top + 14 + BANDS.length * 20 };
  const names = labelsBeside(places, { area: { left, top, right, bottom }, taken: [key] });
  const diagonal = svgLine('stroke="#57606a" stroke-width="1"', [x.at(low), y.at(low)], [x.at(high), y.at(high)]);
  return svg({
    title,
    xTitle: 'measured (ms)',
    yTitle: 'predicted (ms)',
    x,
    y,
    content: [clip, ...bands, diagonal, ...names, ...marks, ...legend],
  });
}

/**
 * Total cost of all measurements up to this model, in seconds: both measurements of each whole model, and of each unique
 * brick those of all occasions.
 */
export interface Growth {
  readonly model: string;
  readonly wholeSeconds: number;
  readonly brickSeconds: number;
}

/** Least distance between two neighbouring slanted names, in pixels. */
const MIN_STEP = (LABEL.height + 1) * Math.SQRT2;

/** Time of all measurements as models are added one by one. Their names are below their points. */
export function plotGrowth(title: string, growth: readonly Growth[]): string {
  const steps = growth.length + 0.5;
  const aslant = Math.max(...growth.map(({ model }) => widthOf(model))) / Math.SQRT2;
  const left = Math.max(PLOT.x[0], aslant);
  const right = Math.max(PLOT.x[1], left + steps * MIN_STEP);
  const plot: Plot = { x: [left, right], y: PLOT.y, bottom: PLOT.bottom + aslant };
  const x = { at: (count: number): number => left + ((right - left) * count) / steps, ticks: [] };
  const highest = Math.max(...growth.flatMap(({ wholeSeconds, brickSeconds }) => [wholeSeconds, brickSeconds]));
  const y = linearScale(highest, PLOT.y);
  const curves = [
    { color: '#cf222e', label: 'whole models', of: ({ wholeSeconds }: Growth) => wholeSeconds },
    { color: '#0969da', label: 'bricks', of: ({ brickSeconds }: Growth) => brickSeconds },
  ].map(({ color, label, of }, index) => {
    const points = [[0, 0] as const, ...growth.map((entry, at) => [at + 1, of(entry)] as const)];
    const places = points.map(([a, b]) => [x.at(a), y.at(b)] as const);
    const curve = svgLine(`stroke="${color}" stroke-width="2"`, ...places);
    const dots = growth.map((entry, at) => {
      const tip = `${entry.model}: ${of(entry).toFixed(1)} s`;
      return `<circle cx="${x.at(at + 1).toFixed(1)}" cy="${y.at(of(entry)).toFixed(1)}" r="3" fill="${color}"><title>${escapedMarkup(tip)}</title></circle>`;
    });
    const legendY = PLOT.y[1] + 14 + index * 20;
    const swatch = svgLine(`stroke="${color}" stroke-width="3"`, [left + 14, legendY - 4], [left + 34, legendY - 4]);
    return [curve, ...dots, swatch, svgText(left + 42, legendY, label)].join('\n');
  });
  const names = growth.map(({ model }, at) => {
    const transform = `translate(${x.at(at + 1).toFixed(1)} ${PLOT.y[0] + LABEL.height + 2}) rotate(-45)`;
    return svgText(0, 0, model, `class="label" text-anchor="end" transform="${transform}"`);
  });
  const content = [...curves, ...names];
  return svg({ title, xTitle: 'models, as they are added', yTitle: 'benchmarking time (s)', x, y, content, plot });
}
