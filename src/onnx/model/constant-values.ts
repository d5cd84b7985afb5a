import type { Graph, Node } from './model.js';
import { isStandard } from './opsets.js';
import { hasSubgraphs, readNames } from './subgraphs.js';

/** Operators whose output differs between calls with the same input. */
const RANDOM = new Set([
  'RandomNormal',
  'RandomUniform',
  'RandomNormalLike',
  'RandomUniformLike',
  'Multinomial',
  'Bernoulli',
]);

/** Runtimes do not fold these, because they belong to the quantized operator that reads them. */
const QUANTIZATION = new Set(['DequantizeLinear', 'QuantizeLinear']);

/** A constant is a tensor. What these make is none, so the layers that read it need the node itself. */
const MAKING_NO_TENSOR = new Set([
  'Optional',
  'SequenceConstruct',
  'SequenceEmpty',
  'SequenceErase',
  'SequenceInsert',
  'SplitToSequence',
]);

const NEVER_FOLDED = new Set([...RANDOM, ...QUANTIZATION, ...MAKING_NO_TENSOR]);

/** Operators that use only the shape of their input. */
export const SHAPE_ONLY = new Set(['Shape', 'Size']);

/** Whether it writes other values in each run. */
export function isRandom(node: Pick<Node, 'opType' | 'domain'>): boolean {
  return isStandard(node) && RANDOM.has(node.opType);
}

function isFoldable(node: Node): boolean {
  return !hasSubgraphs(node) && !(isStandard(node) && NEVER_FOLDED.has(node.opType));
}

export interface ConstantValues {
  /** Nodes whose outputs depend only on initializers; they are not layers. */
  readonly folded: ReadonlySet<Node>;
  /** Outputs of `folded` nodes. */
  readonly produced: ReadonlySet<string>;
  /** Outputs of layers that depend only on constants and on the shapes of other values. */
  readonly fromShapes: ReadonlySet<string>;
}

/** @param graph with its nodes in topological order */
export function constantValues(graph: Pick<Graph, 'nodes' | 'initializers'>): ConstantValues {
  const folded = new Set<Node>();
  const produced = new Set<string>();
  const fromShapes = new Set<string>();
  for (const node of graph.nodes) {
    const names = readNames(node);
    const isConstant = (name: string): boolean => graph.initializers.has(name) || produced.has(name);
    if (!isFoldable(node)) continue;
    if (names.every(isConstant)) {
      folded.add(node);
      for (const name of node.outputs) produced.add(name);
    } else if (
      (isStandard(node) && SHAPE_ONLY.has(node.opType)) ||
      names.every((name) => isConstant(name) || fromShapes.has(name))
    ) {
      for (const name of node.outputs) fromShapes.add(name);
    }
  }
  return { folded, produced, fromShapes };
}
