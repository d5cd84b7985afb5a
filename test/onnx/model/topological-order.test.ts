import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../support/property.js';
import { topologicalOrder } from '../../../src/onnx/model/topological-order.js';

/** A graph without cycles: in a random order, each node needs some of the nodes before it. */
const acyclic = fc.array(fc.array(fc.nat(1000), { maxLength: 4 }), { maxLength: 30 }).chain((picks) =>
  fc
    .shuffledSubarray(
      picks.map((_, i) => i),
      { minLength: picks.length },
    )
    .map((order) => {
      const needs: number[][] = picks.map(() => []);
      order.forEach((node, at) => {
        if (at > 0) needs[node] = (picks[at] ?? []).map((pick) => order[pick % at] as number);
      });
      return needs;
    }),
);

/** A slow implementation of the definition: repeatedly take the smallest node whose needs are all done. */
function byDefinition(needs: readonly (readonly number[])[]): number[] {
  const order: number[] = [];
  while (order.length < needs.length) {
    order.push(
      needs.findIndex((needed, node) => !order.includes(node) && needed.every((other) => order.includes(other))),
    );
  }
  return order;
}

test('the smallest node that is ready comes next', () => {
  fc.assert(
    fc.property(acyclic, (needs) =>
      assert.deepEqual(topologicalOrder(needs), { kind: 'order', nodes: byDefinition(needs) }),
    ),
  );
});

test('each node of a reported cycle needs the one before it', () => {
  const any = fc
    .nat(12)
    .chain((n) => fc.array(fc.array(fc.nat(n), { maxLength: 3 }), { minLength: n + 1, maxLength: n + 1 }));
  fc.assert(
    fc.property(any, (needs) => {
      const { kind, nodes } = topologicalOrder(needs);
      if (kind === 'order') return;
      assert.ok(nodes.length > 0);
      nodes.forEach((node, i) => assert.ok(needs[node]?.includes(nodes.at(i - 1) as number)));
    }),
  );
});
