import type { FunctionProto, NodeProto } from '../generated/onnx/onnx.js';
import { sizeOfFunction, sizeOfNode } from './size-of-names.js';
import { subgraphsOf } from './subgraphs.js';

/** What nodes become when every call of a function is replaced by its body. */
export interface Expansion {
  /** At least; see size-of-names.ts. Graphs that are passed on as parameters come on top. */
  readonly size: number;
  /** Levels of subgraphs. */
  readonly depth: number;
}

const NOTHING: Expansion = { size: 0, depth: 0 };

/**
 * Counts what inlining would make, without making it: each function is counted once, however often it is called.
 *
 * @param functionOf the function that a node calls
 * @param maxCallDepth calls nested deeper are not followed, nor are functions that call themselves: inlining refuses both
 */
export function countExpansion(
  nodes: readonly NodeProto[],
  functionOf: (node: NodeProto) => FunctionProto | undefined,
  maxCallDepth: number,
): Expansion {
  const known = new Map<FunctionProto, Expansion>();

  function ofFunction(fn: FunctionProto, callers: number): Expansion {
    const counted = known.get(fn);
    if (counted !== undefined) return counted;
    if (callers >= maxCallDepth) return NOTHING;
    // Until it is known: what it has become when it meets itself inside.
    known.set(fn, NOTHING);
    const body = ofNodes(fn.node, callers + 1);
    const expansion = { size: sizeOfFunction(fn) + body.size, depth: body.depth };
    known.set(fn, expansion);
    return expansion;
  }

  function ofNodes(inner: readonly NodeProto[], callers: number): Expansion {
    let [size, depth] = [0, 0];
    for (const node of inner) {
      size += sizeOfNode(node);
      const fn = functionOf(node);
      const called = fn === undefined ? NOTHING : ofFunction(fn, callers);
      size += called.size;
      depth = Math.max(depth, called.depth);
      for (const graph of subgraphsOf(node.attribute)) {
        const nested = ofNodes(graph.node, callers);
        size += nested.size;
        depth = Math.max(depth, nested.depth + 1);
      }
    }
    return { size, depth };
  }

  return ofNodes(nodes, 0);
}
