import { tensorBytes, elementCount } from '../model/element-type.js';
import type { Node } from '../model/model.js';
import { hasSubgraphs } from '../model/subgraphs.js';
import { multiplyAccumulates, type SizedOperator } from '../operators/multiply-accumulates.js';
import { isCounted, countOperations, totalOperations } from '../operators/operations.js';
import { steeringConstants } from '../operators/steering.js';
import { sumOf } from '../../base/sum-of.js';
import type { LayerGraph } from './layer-graph.js';

/** The work of a layer: its arithmetic, and its bytes, each value counted once. */
export interface WorkOfLayer {
  readonly node: Node;
  /** Shapes of its outputs; undefined for values that are no tensors. */
  readonly shapes: readonly (readonly number[] | undefined)[];
  readonly multiplyAccumulates: number | undefined;
  /** undefined for the reason in `uncounted`. */
  readonly operations: number | undefined;
  readonly uncounted?: string | undefined;
  /** Elements of its weights. Constants that decide sizes or ways of computing are no weights. */
  readonly parameters: number;
  /** Bytes of its constant inputs, of its other inputs, and of its outputs. */
  readonly parameterBytes: number;
  readonly activationBytes: number;
  readonly outputBytes: number;
}

type Typed = Pick<LayerGraph, 'types' | 'constants'>;

function isConstant({ types, constants }: Typed, name: string): boolean {
  return constants.has(name) && !types.has(name);
}

function countBytes({ types, constants }: Typed, names: Iterable<string>): number {
  return sumOf(
    [...new Set(names)].map((name) => {
      const type = types.get(name) ?? constants.get(name);
      return type === undefined ? 0 : tensorBytes(type);
    }),
  );
}

function sizedOperator({ types, constants }: Typed, { opType, inputs, outputs, attributes }: Node): SizedOperator {
  const dims = (names: readonly string[]): (readonly number[] | undefined)[] =>
    names.map((name) => (types.get(name) ?? constants.get(name))?.dims);
  const attribute = (wanted: string): Node['attributes'][number] | undefined =>
    attributes.find(({ name }) => name === wanted);
  return {
    operator: opType,
    inputs: dims(inputs),
    outputs: dims(outputs),
    integer: (name) => {
      const found = attribute(name);
      return found && Number(found.i);
    },
    integers: (name) => attribute(name)?.ints.map(Number),
  };
}

function uncountedReason(node: Node): string {
  if (hasSubgraphs(node)) return 'the work inside of it is not counted';
  return isCounted(node.opType) ? 'a shape or an attribute is not known' : 'operators of this type are not counted';
}

/** The work of each layer, in the order of the graph. Nothing is run. */
export function workOfLayers(graph: LayerGraph): readonly WorkOfLayer[] {
  const steering = steeringConstants({ nodes: graph.layers, initializers: graph.constants });
  return graph.layers.map((node): WorkOfLayer => {
    const sized = sizedOperator(graph, node);
    const counts = countOperations(sized);
    const constants = node.inputs.filter((name) => isConstant(graph, name));
    const weights = [...new Set(constants)].filter((name) => !steering.has(name));
    return {
      node,
      shapes: sized.outputs,
      multiplyAccumulates: multiplyAccumulates(sized),
      operations: counts && totalOperations(counts),
      ...(counts === undefined && { uncounted: uncountedReason(node) }),
      parameters: sumOf(weights.map((name) => elementCount(graph.constants.get(name)?.dims ?? []))),
      parameterBytes: countBytes(graph, constants),
      activationBytes: countBytes(
        graph,
        node.inputs.filter((name) => !isConstant(graph, name)),
      ),
      outputBytes: countBytes(graph, node.outputs),
    };
  });
}

export interface TotalWork extends Pick<
  WorkOfLayer,
  'parameters' | 'parameterBytes' | 'activationBytes' | 'outputBytes'
> {
  /** Of the layers that are counted. */
  readonly multiplyAccumulates: number;
  readonly operations: number;
  readonly uncountedLayers: number;
}

export function totalWork(graph: LayerGraph, layers: readonly WorkOfLayer[]): TotalWork {
  const steering = steeringConstants({ nodes: graph.layers, initializers: graph.constants });
  const constants = [...new Set(graph.layers.flatMap(({ inputs }) => inputs))].filter((name) =>
    isConstant(graph, name),
  );
  const weights = constants.filter((name) => !steering.has(name));
  return {
    multiplyAccumulates: sumOf(layers.map((layer) => layer.multiplyAccumulates ?? 0)),
    operations: sumOf(layers.map(({ operations }) => operations ?? 0)),
    uncountedLayers: layers.filter(({ operations }) => operations === undefined).length,
    parameters: sumOf(weights.map((name) => elementCount(graph.constants.get(name)?.dims ?? []))),
    parameterBytes: countBytes(graph, constants),
    activationBytes: sumOf(layers.map(({ activationBytes }) => activationBytes)),
    outputBytes: sumOf(layers.map(({ outputBytes }) => outputBytes)),
  };
}
