import { escapedMarkup } from '../../src/base/markup.js';
import { LABEL, svgLine, type Plot, PLOT, svg, svgText, widthOf } from '../../src/web/plots/svg.js';
import { signedScale } from './scales.js';

/** An estimate and the measured latency; ms. */
export interface Residual {
  readonly label: string;
  readonly measuredMs: number;
  readonly estimateMs: number;
  /** undefined where the estimate has no interval. */
  readonly interval: readonly [lowMs: number, highMs: number] | undefined;
}

/** Height of a model's row, in pixels. */
const ROW = 22;

/** Half the height of a whisker's end. */
const CAP = 4;

/**
 * Error of each estimate in percent of the measured latency, with its interval as whiskers. An interval that contains
 * the measured latency crosses zero.
 */
export function plotResiduals(title: string, residuals: readonly Residual[]): string {
  const errorOf = ({ measuredMs }: Residual, ms: number): number => (ms / measuredMs - 1) * 100;
  const rows = residuals.toSorted((a, b) => a.measuredMs - b.measuredMs);
  const reached = rows.flatMap((row) => [row.estimateMs, ...(row.interval ?? [])].map((ms) => errorOf(row, ms)));
  const [, top] = PLOT.y;
  const plot: Plot = {
    x: [Math.max(PLOT.x[0], ...rows.map(({ label }) => widthOf(label) + 24)), PLOT.x[1]],
    y: [top + rows.length * ROW, top],
    bottom: PLOT.bottom,
  };
  const x = signedScale([Math.min(0, ...reached), Math.max(1, ...reached)], plot.x);
  const [left] = plot.x;
  const zero = svgLine('stroke="#57606a" stroke-width="1"', [x.at(0), plot.y[0]], [x.at(0), top]);
  const marks = rows.flatMap((row, index) => {
    const { label, measuredMs, estimateMs, interval } = row;
    const at = top + (index + 0.5) * ROW;
    const whiskers = (interval ?? []).map((ms) => x.at(errorOf(row, ms)));
    const tip = `${label}: measured ${measuredMs.toFixed(2)} ms, predicted ${estimateMs.toFixed(2)} ms`;
    return [
      ...(interval === undefined ? [] : [svgLine('class="axis"', ...whiskers.map((end) => [end, at] as const))]),
      ...whiskers.map((end) => svgLine('class="axis"', [end, at - CAP], [end, at + CAP])),
      `<circle cx="${x.at(errorOf(row, estimateMs)).toFixed(1)}" cy="${at.toFixed(1)}" r="4" fill="#0969da"><title>${escapedMarkup(tip)}</title></circle>`,
      svgText(left - 8, at + LABEL.height / 2 - 3, label, 'class="label" text-anchor="end"'),
    ];
  });
  return svg({
    title,
    xTitle: 'error of the estimate (%), with its interval',
    yTitle: '',
    x,
    y: { at: (value) => value, ticks: [] },
    content: [zero, ...marks],
    plot,
  });
}
