import {
  domainOf,
  type LayerGraph,
  meaningOf,
  nestedNodes,
  type Node,
  oldestOpsetOf,
  type Tensor,
} from '../../../src/plugin-api.js';

/**
 * By layer, an opset in which it means the same although its operator has another definition; see canonical-layer.ts.
 */
export type AlsoIn = ReadonlyMap<Node, number>;

/**
 * The newest opset in `alsoIn` for the layers of a brick, if all operators mean the same in it as in the model.
 *
 * @param operators of ai.onnx, those of subgraphs too
 */
function commonOpset(operators: readonly Node[], version: number, alsoIn: AlsoIn): number | undefined {
  const named = operators.flatMap((node) => alsoIn.get(node) ?? []);
  if (named.length === 0) return undefined;
  const newest = Math.max(...named);
  const isSame = (node: Node): boolean => {
    return meaningOf(node.opType, alsoIn.get(node) ?? version) === meaningOf(node.opType, newest);
  };
  return operators.every(isSame) ? newest : undefined;
}

/**
 * The opsets that a brick needs, by domain in ascending order. For ai.onnx it is the oldest opset in which the brick's
 * operators are defined as in the model, or a newer one in which these layers mean the same. So the same layers from
 * another exporter are the same brick, and bricks of old and new models fit into one graph. A brick without operators
 * of ai.onnx has no opset for it.
 */
export function canonicalOpsets(
  { opsets }: LayerGraph,
  nodes: readonly Node[],
  elementTypes: Iterable<Tensor['elementType']>,
  alsoIn: AlsoIn,
): ReadonlyMap<string, number> {
  const operators = [...nestedNodes(nodes)];
  const used = new Map<string, number>();
  for (const [name, version] of opsets) {
    const domain = domainOf(name);
    const own = operators.filter((node) => domainOf(node.domain) === domain);
    if (own.length === 0) continue;
    const oldest = domain === '' ? oldestOpsetOf(own, version, elementTypes) : undefined;
    const newer = domain === '' ? commonOpset(own, version, alsoIn) : undefined;
    used.set(domain, Math.max(oldest ?? version, newer ?? 0));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
