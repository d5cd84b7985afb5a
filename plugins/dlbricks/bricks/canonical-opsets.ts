import {
  normalizeDomain,
  type LayerGraph,
  findMeaning,
  nestedNodes,
  type Node,
  findOldestOpset,
  type Tensor,
} from '../../../src/plugin-api.js';

/** An opset in which a layer means the same, see canonical-layer.ts. */
type AlsoIn = ReadonlyMap<Node, number | undefined>;

/** If all operators mean the same in it as in the model. @param operators of ai.onnx, those of subgraphs too */
function commonOpset(operators: readonly Node[], version: number, alsoIn: AlsoIn): number | undefined {
  const named = operators.flatMap((node) => alsoIn.get(node) ?? []);
  if (named.length === 0) return undefined;
  const newest = Math.max(...named);
  const isSame = (node: Node): boolean => {
    return findMeaning(node.opType, alsoIn.get(node) ?? version) === findMeaning(node.opType, newest);
  };
  return operators.every(isSame) ? newest : undefined;
}

/**
 * The oldest opset in which the operators are defined as in the model, or a newer one in which these layers mean the
 * same, so that bricks of old and new models fit into one graph. Domains ascend.
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
    const domain = normalizeDomain(name);
    const own = operators.filter((node) => normalizeDomain(node.domain) === domain);
    if (own.length === 0) continue;
    const oldest = domain === '' ? findOldestOpset(own, version, elementTypes) : undefined;
    const newer = domain === '' ? commonOpset(own, version, alsoIn) : undefined;
    used.set(domain, Math.max(oldest ?? version, newer ?? 0));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
