import {
  type BenchmarkAgent,
  isCompletelyTyped,
  layerGraph,
  type LayerGraph,
  type LoadedModel,
  type Node,
  type RunOptions,
  type TracedTensor,
} from '../../../src/plugin-api.js';
import { cutBrick } from '../bricks/brick.js';
import { graphToCut } from '../bricks/decompose.js';
import { sequencesOf } from '../cut/cut.js';
import { lastUses } from '../cut/last-uses.js';
import { edgesOf } from '../cut/layer-cut.js';
import { identityOf, type LayerFacts } from './match-level.js';
import type { FileGraph, Target, TraceSequence } from './trace-book.js';

type Attribute = Node['attributes'][number];

/** AttributeProto.AttributeType in the ONNX project's onnx.proto. */
const [FLOAT, INT, STRING, FLOATS, INTS, STRINGS] = [1, 2, 3, 6, 7, 8];

/** An attribute as a trace or a table would give it; a tensor or a graph only by its presence. */
function valueOf(attribute: Attribute): unknown {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  switch (Number(attribute.type)) {
    case FLOAT:
      return attribute.f;
    case INT:
      return Number(attribute.i);
    case STRING:
      return text(attribute.s);
    case FLOATS:
      return [...attribute.floats];
    case INTS:
      return attribute.ints.map(Number);
    case STRINGS:
      return attribute.strings.map(text);
    default:
      return { type: Number(attribute.type) };
  }
}

function factsOf(graph: LayerGraph, node: Node, signature: string): LayerFacts {
  const tensors = (names: readonly string[]): TracedTensor[] =>
    names.flatMap((name) => {
      const type = graph.types.get(name) ?? graph.constants.get(name);
      return type === undefined ? [] : [{ elementType: type.elementType, dims: type.dims }];
    });
  const inputs = node.inputs.filter((name) => name !== '');
  return {
    operator: node.opType,
    name: node.name,
    signature,
    attributes: Object.fromEntries(node.attributes.map((attribute) => [attribute.name, valueOf(attribute)])),
    inputs: tensors(inputs),
    outputs: tensors(node.outputs),
    activations: inputs.flatMap((name, index) => (graph.constants.has(name) ? [] : [index])),
  };
}

/**
 * The target of a model in a file: its layers, or the kernels that the agent's runtime makes of them and that the
 * runtime's profile lists. It measures nothing.
 *
 * @param granularity longest sequence, in layers or kernels
 */
export async function onnxTarget(
  loaded: LoadedModel,
  settings: {
    readonly graph: FileGraph;
    readonly granularity: number;
    readonly runOptions: RunOptions;
  },
  agent: () => Promise<BenchmarkAgent>,
  signal: AbortSignal,
): Promise<Target> {
  const { granularity, runOptions } = settings;
  const cut = settings.graph === 'source' ? 'layer' : 'kernel';
  const needsAgent = cut === 'kernel' || !isCompletelyTyped(loaded.model);
  const graph = needsAgent
    ? (
        await graphToCut(
          loaded,
          { cut, runOptions, keepDynamic: settings.graph === 'optimized_open' },
          await agent(),
          signal,
        )
      ).graph
    : layerGraph(loaded.model);
  const uses = lastUses(graph);
  const cuts = sequencesOf(graph, cut, granularity);
  const sequences = cuts.map(({ first, last }): TraceSequence => {
    const layers = graph.layers
      .slice(first, last + 1)
      .map((node, i) => factsOf(graph, node, cutBrick(graph, uses, { first: first + i, last: first + i }).signature));
    const position = first === last ? String(first) : `${first}..${last}`;
    return { position, name: graph.layers[first]?.name ?? '', layers, identity: identityOf(layers) };
  });
  return {
    name: loaded.name,
    graph: settings.graph,
    layers: graph.layers.length,
    sequences,
    edges: edgesOf(graph, cuts),
    wholeMs: undefined,
  };
}
