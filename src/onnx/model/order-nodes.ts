import { PlatformError } from '../../base/errors.js';
import type { Node } from './model.js';
import { quoted } from '../../base/quoted.js';
import { listed, nodeLabel } from './node-label.js';
import { capturedNames } from './subgraphs.js';
import { topologicalOrder } from './topological-order.js';

function neededValues(node: Node): readonly string[] {
  return [...node.inputs.filter((name) => name !== ''), ...capturedNames(node)];
}

export interface UnorderedNodes {
  readonly nodes: readonly Node[];
  readonly given: readonly string[];
  readonly outputs: readonly string[];
  readonly source: string;
}

/** Keeps a topological order. @throws PlatformError 'model' where a value is made twice or never, or for a cycle */
export function orderNodes({ nodes, given, outputs, source }: UnorderedNodes): readonly Node[] {
  const fail = (problem: string): never => {
    throw new PlatformError('model', `${source}: ${problem}. Repair the graph, or export the model again.`);
  };
  const makers = new Map<string, number | undefined>();
  const make = (name: string, maker?: number): void => {
    if (makers.has(name)) fail(`the value ${quoted(name)} is made twice`);
    makers.set(name, maker);
  };
  for (const name of given) make(name);
  nodes.forEach(({ outputs: made }, i) => made.filter((name) => name !== '').forEach((name) => make(name, i)));

  const needs = nodes.map((node) =>
    neededValues(node).flatMap((name) => {
      if (!makers.has(name)) fail(`${nodeLabel(node)} uses the value ${quoted(name)}, which no node makes`);
      return makers.get(name) ?? [];
    }),
  );
  for (const name of outputs) if (!makers.has(name)) fail(`no node makes the output ${quoted(name)}`);

  const order = topologicalOrder(needs);
  const ordered = order.nodes.flatMap((i) => nodes[i] ?? []);
  if (order.kind === 'order') return ordered;
  return fail(`these nodes form a cycle, in which each needs an output of another: ${listed(ordered.map(nodeLabel))}`);
}

/** The nodes that an output depends on, in their order, and the names of all values that an output depends on. */
export function liveNodes(
  ordered: readonly Node[],
  outputs: readonly string[],
): { readonly nodes: readonly Node[]; readonly used: ReadonlySet<string> } {
  const used = new Set(outputs);
  const nodes: Node[] = [];
  for (const node of ordered.toReversed()) {
    if (!node.outputs.some((name) => used.has(name))) continue;
    nodes.push(node);
    for (const name of neededValues(node)) used.add(name);
  }
  return { nodes: nodes.reverse(), used };
}
