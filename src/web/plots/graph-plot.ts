import { counted } from '../../base/counted.js';
import { append, maxOf } from '../../base/long-lists.js';
import { oneLine } from '../../base/one-line.js';
import { escapedMarkup } from '../../base/markup.js';
import { svgDocument, svgLine, svgText } from './svg.js';

interface DrawnNode {
  readonly name: string;
  readonly detail: string;
  readonly isMarked: boolean;
}

/** Edges lead from a node to a later one. */
export interface DrawnGraph {
  readonly title: string;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

const MARK = '#d55e00';

const TITLE_LEFT = 40;
/** Width of most characters of a title at most. */
const TITLE_CHARACTER = 9;

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}

export function graphDot(graphs: readonly DrawnGraph[]): string {
  const frames = graphs.map(({ title, nodes, edges }, graph) => {
    const id = (index: number): string => `k${graph}_${index}`;
    const marked = `color=${quoted(MARK)}, penwidth=2`;
    const boxes = nodes.map(({ name, detail, isMarked }, index) => {
      return `    ${id(index)} [label=${quoted(`${name}, ${detail}`)}${isMarked ? `, ${marked}` : ''}];`;
    });
    const arrows = edges.map(([from, to]) => {
      const isMarked = nodes[from]?.isMarked === true && nodes[to]?.isMarked === true;
      return `    ${id(from)} -> ${id(to)}${isMarked ? ` [${marked}]` : ''};`;
    });
    return [`  subgraph cluster_${graph} {`, `    label=${quoted(title)};`, ...boxes, ...arrows, '  }'].join('\n');
  });
  return `digraph graphs {\n  node [shape=box];\n${frames.join('\n')}\n}\n`;
}

/** In more nodes, only the marked ones can be found. */
const MAX_NODES = 600;

const BOX = { width: 250, height: 36, apart: 24, below: 22 } as const;

const MAX_CHARACTERS = 36;

function shortened(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1)}…` : line;
}

function keepMarked({ title, nodes, edges }: DrawnGraph): DrawnGraph {
  const kept = nodes.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
  const positions = new Map(kept.map((index, position) => [index, position]));
  return {
    title: `${title}, without the ${counted(nodes.length - kept.length, 'other kernel')}`,
    nodes: kept.flatMap((index) => nodes[index] ?? []),
    edges: edges.flatMap(([from, to]) => {
      const start = positions.get(from);
      const end = positions.get(to);
      return start === undefined || end === undefined ? [] : [[start, end] as const];
    }),
  };
}

/** A node is below those that it reads; marked nodes are in the first column. */
function placed({ title, nodes, edges }: DrawnGraph, top: number) {
  const ranks = nodes.map(() => 0);
  for (const [from, to] of edges.toSorted(([a], [b]) => a - b)) {
    ranks[to] = Math.max(ranks[to] ?? 0, (ranks[from] ?? 0) + 1);
  }
  const used = new Map<number, number>();
  const columns = nodes.map(({ isMarked }, index) => {
    if (isMarked) return 0;
    const column = (used.get(ranks[index] ?? 0) ?? 0) + 1;
    used.set(ranks[index] ?? 0, column);
    return column;
  });
  const left = (index: number): number => 40 + (columns[index] ?? 0) * (BOX.width + BOX.apart);
  const upper = (index: number): number => top + 44 + (ranks[index] ?? 0) * (BOX.height + BOX.below);
  const lines = edges.map(([from, to]) => {
    const start = left(from) + BOX.width / 2;
    const end = left(to) + BOX.width / 2;
    const isMarked = nodes[from]?.isMarked === true && nodes[to]?.isMarked === true;
    // Around the boxes between them.
    const isAround = columns[from] === columns[to] && (ranks[to] ?? 0) - (ranks[from] ?? 0) > 1;
    const side = left(from) - 12;
    const around: readonly (readonly [number, number])[] = isAround
      ? [
          [side, upper(from) + BOX.height + BOX.below / 2],
          [side, upper(to) - BOX.below / 2],
        ]
      : [];
    const look = isMarked && !isAround ? `stroke="${MARK}" stroke-width="2"` : 'class="axis"';
    return svgLine(look, [start, upper(from) + BOX.height], ...around, [end, upper(to)]);
  });
  const boxes = nodes.map(({ name, detail, isMarked }, index) => {
    const x = left(index);
    const y = upper(index);
    const frame = isMarked ? `stroke="${MARK}" stroke-width="2"` : 'class="axis"';
    const size = `x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="4"`;
    return [
      `<g><title>${escapedMarkup(`${oneLine(name)}, ${detail}`)}</title><rect ${size} fill="#7f7f7f" fill-opacity="0.12" ${frame}/>`,
      svgText(x + 8, y + 15, shortened(name)),
      `${svgText(x + 8, y + 30, shortened(detail), 'class="label"')}</g>`,
    ].join('');
  });
  const lowest = Math.max(0, maxOf(nodes.map((_, index) => upper(index) + BOX.height)));
  const rightmost = Math.max(0, maxOf(nodes.map((_, index) => left(index) + BOX.width)));
  return {
    svg: [svgText(TITLE_LEFT, top + 26, title, 'class="title"'), ...lines, ...boxes],
    width: Math.max(rightmost, TITLE_LEFT + title.length * TITLE_CHARACTER) + BOX.apart,
    height: Math.max(lowest, top + 44) - top + BOX.apart,
  };
}

export function graphSvg(graphs: readonly DrawnGraph[]): string {
  let top = 0;
  const content: string[] = [];
  let width = 400;
  for (const graph of graphs) {
    const drawn = placed(graph.nodes.length > MAX_NODES ? keepMarked(graph) : graph, top);
    append(content, drawn.svg);
    top += drawn.height;
    width = Math.max(width, drawn.width);
  }
  return svgDocument({ width, height: top }, graphs.map(({ title }) => title).join(', '), content);
}
