// Small, readable in a diff, and drawn by every browser, in light and dark.
import { escapedMarkup } from '../../base/markup.js';

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly label: string;
}

export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

const MARGIN = { left: 70, right: 24, top: 44 } as const;

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 15px; }
  .axis { stroke: #57606a; } .grid { stroke: #d0d7de; stroke-dasharray: 2 4; }
  .label { font-size: 11px; fill: #57606a; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .label { fill: #9198a1; } .grid { stroke: #3d444d; } }
</style>`;

/** In pixels: generous, since browsers choose the font. */
export const LABEL = { character: 7, height: 13, ascent: 10 } as const;

export function widthOf(label: string): number {
  return label.length * LABEL.character;
}

/** 1, 2 or 5 times a power of ten, at least as large as asked. */
export function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

/** From zero; about five round ticks. */
export function linearScale(highest: number, [from, to]: readonly [number, number]): Scale {
  const step = roundStep(highest / 5);
  const ticks = Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
  const top = ticks.at(-1) ?? highest;
  return { at: (value) => from + ((to - from) * value) / top, ticks };
}

/** The ends of both axes in pixels, y from its lower end. */
export interface Plot {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly bottom: number;
}

export const PLOT: Plot = { x: [MARGIN.left, 696], y: [424, MARGIN.top], bottom: 56 };

export function computeSvgSize({ x, y, bottom }: Plot): { readonly width: number; readonly height: number } {
  return { width: x[1] + MARGIN.right, height: y[0] + bottom };
}

export function svgLine(attributes: string, ...points: readonly (readonly [number, number])[]): string {
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return `<polyline points="${path}" fill="none" ${attributes}/>`;
}

export function svgText(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapedMarkup(content)}</text>`;
}

function axes({ x, y, xTitle, yTitle, plot = PLOT }: Drawing): string[] {
  const [left, right] = plot.x;
  const [bottom, top] = plot.y;
  const number = (value: number): string => String(Number(value.toPrecision(6)));
  return [
    ...x.ticks.map((tick) => svgLine('class="grid"', [x.at(tick), bottom], [x.at(tick), top])),
    ...y.ticks.map((tick) => svgLine('class="grid"', [left, y.at(tick)], [right, y.at(tick)])),
    ...x.ticks.map((tick) => svgText(x.at(tick), bottom + 18, number(tick), 'text-anchor="middle"')),
    ...y.ticks.map((tick) => svgText(left - 8, y.at(tick) + 4, number(tick), 'text-anchor="end"')),
    svgLine('class="axis"', [left, top], [left, bottom], [right, bottom]),
    svgText((left + right) / 2, computeSvgSize(plot).height - 14, xTitle, 'text-anchor="middle"'),
    svgText(0, 0, yTitle, `text-anchor="middle" transform="translate(18 ${(top + bottom) / 2}) rotate(-90)"`),
  ];
}

export interface Drawing {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly x: Scale;
  readonly y: Scale;
  readonly content: readonly string[];
  readonly plot?: Plot;
}

export function svgDocument(
  { width, height }: { readonly width: number; readonly height: number },
  label: string,
  content: readonly string[],
): string {
  const start = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapedMarkup(label)}">`;
  return [start, STYLE, ...content, '</svg>', ''].join('\n');
}

export function svg(drawing: Drawing): string {
  const { title, content, plot = PLOT } = drawing;
  const heading = svgText(MARGIN.left, 26, title, 'class="title"');
  return svgDocument(computeSvgSize(plot), title, [heading, ...axes(drawing), ...content]);
}
