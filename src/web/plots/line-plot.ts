import { maxOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { escapedMarkup } from '../../base/markup.js';
import { svgLine, linearScale, type Plot, PLOT, svg, svgText, widthOf } from './svg.js';

export interface Series {
  readonly label: string;
  readonly values: readonly (number | undefined)[];
  /** Dashed, in the color of the series before it. */
  readonly isDashed?: boolean;
}

export interface LinePlot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Names side by side, or numbers on the axis. */
  readonly positions: readonly string[] | readonly number[];
  readonly series: readonly Series[];
  /** Default: only dots. */
  readonly isConnected?: boolean;
  readonly reference?: number;
  /** A box for each position, with lines to the ends of all values. */
  readonly boxes?: readonly (Box | undefined)[];
  /** Each bar is on those of the series before it; default: dots. */
  readonly isStacked?: boolean;
}

export interface Box {
  readonly least: number;
  readonly from: number;
  readonly to: number;
  readonly most: number;
}

/** Distinct in light and dark, also for most of the color-blind; Okabe and Ito (2008), and two more. */
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c564b', '#7f7f7f'] as const;

const LEGEND_ROW = 20;

const MAX_UPRIGHT_LENGTH = 6;

/** In pixels: enough for a slanted name. */
const MIN_STEP = 20;

/** In pixels: the width of a dot. */
const DOT_STEP = 6;

function rectangle(
  center: number,
  width: number,
  [one, other]: readonly [number, number],
  look: string,
  tip: string,
): string {
  const top = Math.min(one, other);
  const height = Math.abs(one - other);
  const box = `x="${(center - width / 2).toFixed(1)}" y="${top.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"`;
  return `<rect ${box} ${look}><title>${escapedMarkup(tip)}</title></rect>`;
}

/** A missing value interrupts lines between names. */
export function linePlot(drawn: LinePlot): string {
  const {
    title,
    xTitle,
    yTitle,
    positions,
    series,
    isConnected = false,
    reference,
    boxes = [],
    isStacked = false,
  } = drawn;
  const numbers = positions.filter((position) => typeof position === 'number');
  const named = numbers.length > 0 ? [] : positions.map(String);
  const isAslant = named.some(({ length }) => length > MAX_UPRIGHT_LENGTH);
  const aslant = isAslant ? maxOf(named.map(widthOf)) / Math.SQRT2 : 0;
  const left = Math.max(PLOT.x[0], aslant);
  const right = Math.max(PLOT.x[1], left + named.length * MIN_STEP);
  const legend = series.length * LEGEND_ROW;
  const plot: Plot = {
    x: [left, right],
    y: [PLOT.y[0] + legend, PLOT.y[1] + legend],
    bottom: PLOT.bottom + aslant,
  };
  const step = (right - left) / Math.max(1, positions.length);
  const scale =
    numbers.length > 0
      ? linearScale(maxOf(numbers), [left, right])
      : { at: (position: number): number => left + (position + 0.5) * step, ticks: [] };
  const x = { at: (position: number): number => scale.at(numbers[position] ?? position) };
  const known = series.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const below = (position: number, index: number): number => {
    return isStacked ? sumOf(series.slice(0, index).map(({ values }) => values[position] ?? 0)) : 0;
  };
  const tops = isStacked ? positions.map((_, position) => below(position, series.length)) : known;
  // A little room, so that the reference is not taken for the frame.
  const highest = maxOf([(reference ?? 0) * 1.05, ...tops, ...boxes.flatMap((box) => box?.most ?? [])]);
  const y = linearScale(highest > 0 ? highest : 1, plot.y);
  const content = series.flatMap(({ label, values, isDashed = false }, index) => {
    const dashedBefore = series.slice(0, index + 1).filter((one) => one.isDashed === true).length;
    const color = COLORS[(index - dashedBefore) % COLORS.length] ?? '';
    const dashes = isDashed ? ' stroke-dasharray="5 4"' : '';
    const present = [...values.keys()].filter((position) => values[position] !== undefined);
    const segments = present.slice(1).flatMap((position, before) => {
      const from = present[before] ?? 0;
      if (!isConnected || (numbers.length === 0 && position - from > 1)) return [];
      const ends = [from, position].map((end) => [x.at(end), y.at(values[end] ?? 0)] as const);
      return [svgLine(`stroke="${color}" stroke-width="1.5"${dashes}`, ...ends)];
    });
    // Names have room for dots side by side, so that none covers another; a number has one place.
    const shift =
      isConnected || numbers.length > 0
        ? 0
        : (index - (series.length - 1) / 2) * Math.min(DOT_STEP, step / series.length);
    const dots = values.flatMap((value, position) => {
      if (value === undefined) return [];
      const tip = `${positions[position] ?? ''}, ${label}: ${value.toPrecision(4)}`;
      if (isStacked) {
        const bottom = below(position, index);
        return [rectangle(x.at(position), step * 0.6, [y.at(bottom), y.at(bottom + value)], `fill="${color}"`, tip)];
      }
      const center = `cx="${(x.at(position) + shift).toFixed(1)}" cy="${y.at(value).toFixed(1)}"`;
      return [`<circle ${center} r="3" fill="${color}"><title>${escapedMarkup(tip)}</title></circle>`];
    });
    const keyY = PLOT.y[1] + index * LEGEND_ROW;
    const swatch = svgLine(`stroke="${color}" stroke-width="3"${dashes}`, [left, keyY - 4], [left + 20, keyY - 4]);
    return [swatch, svgText(left + 28, keyY, label), ...segments, ...dots];
  });
  const drawnBoxes = boxes.flatMap((box, position) => {
    if (box === undefined) return [];
    const at = x.at(position);
    const { least, from, to, most } = box;
    const whiskers = svgLine('class="axis"', [at, y.at(least)], [at, y.at(most)]);
    const tip = `${positions[position] ?? ''}: ${[least, from, to, most].map((end) => end.toPrecision(4)).join(', ')}`;
    const look = 'fill="#7f7f7f" fill-opacity="0.35"';
    return [whiskers, rectangle(at, step * 0.6, [y.at(from), y.at(to)], look, tip)];
  });
  const level =
    reference === undefined ? [] : [svgLine('class="axis"', [left, y.at(reference)], [right, y.at(reference)])];
  const names = named.map((name, position) => {
    const below = plot.y[0] + 18;
    if (!isAslant) return svgText(x.at(position), below, name, 'text-anchor="middle"');
    const transform = `transform="translate(${x.at(position).toFixed(1)} ${below - 4}) rotate(-45)"`;
    return svgText(0, 0, name, `class="label" text-anchor="end" ${transform}`);
  });
  return svg({
    title,
    xTitle,
    yTitle,
    x: scale,
    y,
    content: [...level, ...drawnBoxes, ...content, ...names],
    plot,
  });
}
