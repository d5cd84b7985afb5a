import { maxOf, minOf } from '../../base/long-lists.js';
import { escapedMarkup } from '../../base/markup.js';
import { PLOT, type Point, type Scale, svg, svgLine, svgText } from './svg.js';

export interface ScatterPlot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** All above zero. */
  readonly points: readonly Point[];
  /** Bounds of y that grow with x up to a limit: the least of `slope` x and `limit`. */
  readonly roofs: readonly { readonly label: string; readonly slope: number; readonly limit: number }[];
}

const COLOR = '#0072b2';
const ROOF = '#d55e00';

function logScale(
  values: readonly number[],
  [from, to]: readonly [number, number],
): Scale & { readonly ends: readonly [number, number] } {
  const low = Math.floor(Math.log10(minOf(values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(maxOf(values))));
  const at = (value: number): number => from + ((to - from) * (Math.log10(value) - low)) / (high - low);
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { at, ticks, ends: [10 ** low, 10 ** high] };
}

/** On logarithmic axes below the roofs that bound the points; undefined where there is none. */
export function scatterPlot({ title, xTitle, yTitle, points, roofs }: ScatterPlot): string | undefined {
  if (points.length === 0) return undefined;
  const x = logScale([...points.map((point) => point.x), ...roofs.map(({ slope, limit }) => limit / slope)], PLOT.x);
  const y = logScale([...points.map((point) => point.y), ...roofs.map(({ limit }) => limit)], PLOT.y);
  const drawnRoofs = roofs.flatMap(({ label, slope, limit }) => {
    const start = Math.max(x.ends[0], y.ends[0] / slope);
    const ridge = limit / slope;
    const end = x.ends[1];
    return [
      svgLine(
        `stroke="${ROOF}" stroke-width="1.5"`,
        [x.at(start), y.at(Math.min(limit, slope * start))],
        [x.at(ridge), y.at(limit)],
        [x.at(end), y.at(limit)],
      ),
      svgText(x.at(end), y.at(limit) - 6, label, 'class="label" text-anchor="end"'),
    ];
  });
  const dots = points.map((point) => {
    const center = `cx="${x.at(point.x).toFixed(1)}" cy="${y.at(point.y).toFixed(1)}"`;
    return `<circle ${center} r="3.5" fill="${COLOR}" fill-opacity="0.6"><title>${escapedMarkup(point.label)}</title></circle>`;
  });
  return svg({ title, xTitle, yTitle, x, y, content: [...drawnRoofs, ...dots] });
}
