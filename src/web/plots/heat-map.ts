import { maxOf } from '../../base/long-lists.js';
import { svgText } from './svg.js';

/** Shares from 0 to 1. */
export interface HeatMap {
  readonly title: string;
  readonly names: readonly string[];
  readonly values: readonly (readonly number[])[];
}

const CELL = 34;
const FONT = 12;
/** Of a proportional font at that size. */
const CHARACTER = 7;
const TOP = 44;
const EDGE = 12;

/** White for 0, dark for 1: the end colors of ColorBrewer's Blues. */
function computeColor(share: number): string {
  const mix = (from: number, to: number): number => Math.round(from + (to - from) * Math.sqrt(share));
  return `rgb(${mix(247, 8)},${mix(251, 81)},${mix(255, 156)})`;
}

function cell(share: number, column: number, row: number, left: number, top: number): string {
  const x = left + column * CELL;
  const y = top + row * CELL;
  const color = share > 0.35 ? '#ffffff' : '#24292f';
  const label = `style="fill:${color};text-anchor:middle;font-size:11px"`;
  return [
    `<rect x="${x}" y="${y}" width="${CELL}" height="${CELL}" fill="${computeColor(share)}"/>`,
    svgText(x + CELL / 2, y + CELL / 2 + 4, `${Math.round(share * 100)}`, label),
  ].join('');
}

export function heatMapSvg({ title, names, values }: HeatMap): string {
  const longest = Math.max(0, maxOf(names.map(({ length }) => length))) * CHARACTER;
  const left = EDGE + longest + 8;
  // Column titles are turned by 45 degrees.
  const slanted = Math.ceil(longest * Math.SQRT1_2) + 8;
  const top = TOP + slanted;
  const width = left + names.length * CELL + slanted + EDGE;
  const height = top + names.length * CELL + EDGE;
  const columns = names.map((name, index) => {
    const x = left + index * CELL + CELL / 2;
    return svgText(x, top - 6, name, `transform="rotate(-45 ${x} ${top - 6})"`);
  });
  const rows = names.map((name, index) => {
    return svgText(left - 8, top + index * CELL + CELL / 2 + 4, name, 'style="text-anchor:end"');
  });
  const cells = values.flatMap((row, y) => row.map((share, x) => cell(share, x, y, left, top)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>text { font: ${FONT}px system-ui, sans-serif; fill: #24292f; } @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }</style>
${svgText(EDGE, 24, title, 'style="font-weight:600;font-size:15px"')}
${[...columns, ...rows, ...cells].join('\n')}
</svg>
`;
}
