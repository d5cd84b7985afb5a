import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { graphDot, graphSvg } from '../../../src/web/plots/graph-plot.js';

const GRAPH = {
  title: 'a "model" <1>',
  nodes: [
    { name: 'conv', detail: 'Conv, 1 ms', isMarked: true },
    { name: 'side\nline', detail: 'Relu, 0.1 ms', isMarked: false },
    { name: 'end', detail: 'Add, 2 ms', isMarked: true },
  ],
  edges: [
    [0, 1],
    [0, 2],
    [1, 2],
  ],
} as const;

describe('a drawn graph', () => {
  test('in DOT has all nodes and edges, and marks those that matter', () => {
    const dot = graphDot([GRAPH]);
    assert.match(dot, /label="a \\"model\\" <1>";/);
    assert.equal(dot.match(/^ +k0_\d \[/gm)?.length, 3);
    assert.equal(dot.match(/^ +k0_\d \[.*penwidth=2/gm)?.length, 2);
    assert.match(dot, /k0_0 -> k0_2 \[.*penwidth=2/);
    assert.match(dot, /k0_0 -> k0_1;/);
    assert.doesNotMatch(dot, /side\nline/);
  });

  test('in SVG has a box for each node, below those that it reads', () => {
    const svg = graphSvg([GRAPH]);
    const boxes = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)"/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    assert.equal(boxes.length, 3);
    const [first, side, end] = boxes;
    assert.ok(first !== undefined && side !== undefined && end !== undefined);
    assert.ok(first[1] < side[1] && side[1] < end[1]);
    assert.equal(first[0], end[0]);
    assert.ok(side[0] > first[0]);
    assert.match(svg, /a &#34;model&#34; &#60;1&#62;/);
  });

  test('in SVG is as wide as its title', () => {
    const widthOf = (title: string): number => {
      return Number(/viewBox="0 0 (\d+)/.exec(graphSvg([{ ...GRAPH, title }]))?.[1]);
    };
    // 600 15px sans-serif: most characters take less than 9 px.
    assert.ok(widthOf('x'.repeat(200)) >= 200 * 9);
    assert.ok(widthOf('x') < 1000);
  });

  test('with too many nodes has the marked ones alone, and says so', () => {
    const many = Array.from({ length: 700 }, (_, index) => {
      return { name: `k${index}`, detail: '', isMarked: index % 100 === 0 };
    });
    const edges = many.slice(1).map((_, index) => [index, index + 1] as const);
    const svg = graphSvg([{ title: 'large', nodes: many, edges }]);
    assert.equal(svg.match(/<rect /g)?.length, 7);
    assert.match(svg, /large, without the 693 other kernels/);
  });
});
