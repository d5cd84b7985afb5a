import { PlatformError } from '../../base/errors.js';
import { constantValues } from '../model/constant-values.js';
import { readIntegers } from '../model/integers-of.js';
import { findStaticType, staticInputType } from '../model/static-type.js';
import type { Graph, InputValues, Model, Node, Tensor, TensorType } from '../model/model.js';
import { nodeLabel } from '../model/node-label.js';
import { isStandard } from '../model/opsets.js';
import type { KnownValue } from '../values/content-values.js';
import type { ValueClass } from './value-classes.js';

/** Layers in topological order, with every type known. Constants that produce weights are not layers. */
export interface LayerGraph {
  readonly source: string;
  readonly opsets: ReadonlyMap<string, number>;
  readonly layers: readonly Node[];
  /** Values that come from outside, in the model's order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Types of the inputs and of the layers' outputs. */
  readonly types: ReadonlyMap<string, TensorType>;
  /**
   * Values that do not depend on the inputs' values, also those from shapes alone; `fill` where content is not needed.
   */
  readonly constants: ReadonlyMap<string, Tensor>;
  /** Values that are not tensors: sequences, maps, optional values. They have no type here. */
  readonly opaque: ReadonlySet<string>;
  readonly given?: ReadonlyMap<string, InputValues> | undefined;
  readonly ofRun?: ValuesOfRun | undefined;
  /** Constants that follow from made-up ones, where these decide contents or sizes. */
  readonly madeUp?: { readonly contents: readonly string[]; readonly sizes: readonly string[] } | undefined;
  /** Values of a class that decides how fast kernels are, by name. */
  readonly classes?: ReadonlyMap<string, ValueClass> | undefined;
}

/** Values of one run of a graph, and whether it ran with the weights of its file or with made-up ones. */
export interface ValuesOfRun {
  readonly weights: 'own' | 'made up';
  readonly values: ReadonlyMap<string, InputValues>;
}

/**
 * Content: of integers and truth values up to 1024 elements, of others up to 16, and of all that steer if asked for.
 */
export interface InferredValue extends KnownValue {
  /** Range of an integer value with more elements. */
  readonly minimum?: bigint;
  readonly maximum?: bigint;
}

/** The type of a ConstantOfShape with a known shape: some published graphs have it in place of weights. */
function constantOfShapeType(graph: Graph, node: Node): TensorType | undefined {
  if (node.opType !== 'ConstantOfShape' || !isStandard(node)) return undefined;
  const dims = readIntegers(graph.initializers.get(node.inputs[0] ?? ''));
  if (dims?.every((dim) => Number.isSafeInteger(dim) && dim >= 0) !== true) return undefined;
  const value = node.attributes.find(({ name }) => name === 'value')?.t;
  if (value !== undefined && value.dataType !== 1) return undefined;
  return { elementType: 'float32', dims };
}

/**
 * The values of a model that only a runtime can infer. Where there are none, {@link layerGraph} needs no runtime.
 * `contents` matter since they may steer an operator: computed from shapes, or integers computed from constants.
 */
export function unknownValues(model: Model) {
  const { graph } = model;
  const { folded, fromShapes } = constantValues(graph);
  const types: string[] = [];
  const contents: string[] = [];
  for (const node of graph.nodes) {
    for (const name of node.outputs) {
      if (name === '') continue;
      const type = findStaticType(graph.types.get(name)) ?? constantOfShapeType(graph, node);
      if (type === undefined) types.push(name);
      // A constant of unknown type may steer as well.
      const steers = folded.has(node) && (type === undefined || ['int64', 'int32', 'bool'].includes(type.elementType));
      if (fromShapes.has(name) || steers) contents.push(name);
    }
  }
  return { types, contents };
}

export function isCompletelyTyped(model: Model): boolean {
  const { types, contents } = unknownValues(model);
  return types.length === 0 && contents.length === 0;
}

function buildConstant(type: TensorType, content: Uint8Array | undefined): Tensor {
  const { elementType, dims } = type;
  const data =
    content === undefined
      ? ({ kind: 'fill', fill: { low: -1, high: 1, seed: 0 } } as const)
      : ({ kind: 'inline', bytes: content } as const);
  return { elementType, dims, data };
}

/** How many layers a model has; needs no types. */
export function countLayers({ graph }: Model): number {
  return graph.nodes.length - constantValues(graph).folded.size;
}

/** @param inferred {@link unknownValues} @throws PlatformError `model` where a value's type is still unknown */
export function layerGraph(model: Model, inferred: ReadonlyMap<string, InferredValue> = new Map()): LayerGraph {
  const { graph, source, opsets } = model;
  const { folded, produced, fromShapes } = constantValues(graph);
  const types = new Map<string, TensorType>();
  const opaque = new Set<string>();
  const constants = new Map(graph.initializers);
  for (const name of graph.inputs) types.set(name, staticInputType(model, name));
  for (const node of graph.nodes) {
    for (const name of node.outputs) {
      if (name === '') continue;
      const value = inferred.get(name);
      const type = value ?? findStaticType(graph.types.get(name)) ?? constantOfShapeType(graph, node);
      if (type === undefined && inferred.size > 0) {
        opaque.add(name);
        continue;
      }
      if (type === undefined) {
        throw new PlatformError(
          'model',
          `${source}: ${nodeLabel(node)}: neither the file nor the runtime states the shape of its output ${name}`,
        );
      }
      const { elementType, dims } = type;
      if (produced.has(name)) constants.set(name, buildConstant(type, value?.content));
      else {
        types.set(name, { elementType, dims });
        if (fromShapes.has(name) && value?.content !== undefined)
          constants.set(name, buildConstant(type, value.content));
      }
    }
  }
  const layers = graph.nodes.filter((node) => !folded.has(node));
  return {
    source,
    opsets,
    layers,
    inputs: graph.inputs,
    outputs: graph.outputs,
    types,
    constants,
    opaque,
    given: graph.given,
  };
}
