import { maxOf, minOf } from '../../base/long-lists.js';
import { escapedMarkup } from '../../base/markup.js';
import { PLOT, linearScale, svg, svgLine, svgText, widthOf } from './svg.js';

export interface RangePlot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Across all ranges, such as 1 for ratios. */
  readonly reference: number;
  readonly ranges: readonly {
    readonly name: string;
    readonly value: number;
    readonly low: number | null;
    readonly high: number | null;
    /** The same in words. */
    readonly text: string;
    readonly isMarked: boolean;
  }[];
}

const ROW = 22;
const COLOR = '#0072b2';
const MARK = '#d55e00';

/** undefined without a value */
export function rangePlot({ title, xTitle, yTitle, reference, ranges }: RangePlot): string | undefined {
  if (ranges.length === 0) return undefined;
  const left = Math.min(360, maxOf(ranges.map(({ name }) => widthOf(name)))) + 48;
  const [, top] = PLOT.y;
  const bottom = top + ROW * ranges.length + 8;
  const plot = { x: [left, left + 460], y: [bottom, top], bottom: PLOT.bottom } as const;
  const ends = ranges.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const least = Math.min(reference, minOf(ends));
  const most = Math.max(reference, maxOf(ends));
  // From below the least value, because ratios are near 1.
  const margin = (most - least || reference) * 0.08;
  const { ticks: steps } = linearScale(most - least + 2 * margin, [0, 1]);
  const step = steps[1] ?? 1;
  const from = Math.floor((least - margin) / step) * step;
  const to = Math.ceil((most + margin) / step) * step;
  const at = (value: number): number => plot.x[0] + ((plot.x[1] - plot.x[0]) * (value - from)) / (to - from);
  const ticks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => from + index * step);
  const rows = ranges.flatMap(({ name, value, low, high, text, isMarked }, index) => {
    const y = top + ROW * (index + 0.5) + 4;
    const color = isMarked ? MARK : COLOR;
    const tip = `<title>${escapedMarkup(`${name}: ${text}`)}</title>`;
    const look = `stroke="${color}" stroke-width="5" stroke-opacity="0.4"`;
    return [
      svgText(left - 8, y + 4, name, 'text-anchor="end"'),
      ...(low === null || high === null ? [] : [`<g>${tip}${svgLine(look, [at(low), y], [at(high), y])}</g>`]),
      `<circle cx="${at(value).toFixed(1)}" cy="${y.toFixed(1)}" r="4" fill="${color}">${tip}</circle>`,
    ];
  });
  const line = svgLine('class="axis"', [at(reference), bottom], [at(reference), top]);
  return svg({ title, xTitle, yTitle, x: { at, ticks }, y: { at: Number, ticks: [] }, content: [line, ...rows], plot });
}
