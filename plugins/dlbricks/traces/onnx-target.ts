import {
  type BenchmarkAgent,
  layerGraph,
  type LayerGraph,
  type LoadedModel,
  modelOf,
  type Node,
  type RunOptions,
  type TracedTensor,
  unknownValues,
  weightlessBenchmark,
} from '../../../src/plugin-api.js';
import { cutBrick } from '../bricks/brick.js';
import { lastUses } from '../cut/last-uses.js';
import { edgesOf, findModelSubgraphs, type Sequence } from '../cut/layer-cut.js';
import type { Cut } from '../bricks/prepare-model.js';
import { cutAtFewestValues } from '../cut/kernel-cut.js';
import { identityOf, type LayerFacts } from './match-level.js';
import type { Target, TraceSequence } from './trace-book.js';

type Attribute = Node['attributes'][number];

/** AttributeProto.AttributeType in the ONNX project's onnx.proto. */
const [FLOAT, INT, STRING, FLOATS, INTS, STRINGS] = [1, 2, 3, 6, 7, 8];

/** An attribute as a trace or a table would give it; of tensors and graphs only that there is one. */
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
    signature,
    attributes: Object.fromEntries(node.attributes.map((attribute) => [attribute.name, valueOf(attribute)])),
    inputs: tensors(inputs),
    outputs: tensors(node.outputs),
    activations: inputs.flatMap((name, index) => (graph.constants.has(name) ? [] : [index])),
  };
}

function sequencesOf(graph: LayerGraph, cut: Cut, granularity: number): readonly Sequence[] {
  if (granularity > 1 && cut === 'kernel') return cutAtFewestValues(graph, granularity);
  return findModelSubgraphs(graph, granularity).sequences;
}

/**
 * A model that is there as a file, as something to find in traces: its layers, or the kernels that the agent's runtime makes
 * of them, which is what a runtime's own profile knows. Nothing of it is measured.
 *
 * @param granularity longest sequence, in layers or kernels
 */
export async function onnxTarget(
  { name, model }: LoadedModel,
  settings: { readonly cut: Cut; readonly granularity: number; readonly runOptions: RunOptions },
  agent: () => Promise<BenchmarkAgent>,
  signal: AbortSignal,
): Promise<Target> {
  const { cut, granularity, runOptions } = settings;
  const graph = await (async (): Promise<LayerGraph> => {
    if (cut === 'layer') {
      const isKnown = unknownValues(model).length === 0;
      return layerGraph(
        model,
        isKnown ? undefined : await (await agent()).inferTypes(weightlessBenchmark(model), signal),
      );
    }
    const { benchmark, values } = await (await agent()).optimize(weightlessBenchmark(model), runOptions, signal);
    return layerGraph(modelOf(benchmark, `${model.source}, optimized`), values);
  })();
  const uses = lastUses(graph);
  const cuts = sequencesOf(graph, cut, granularity);
  const sequences = cuts.map(({ first, last }): TraceSequence => {
    const layers = graph.layers
      .slice(first, last + 1)
      .map((node, i) => factsOf(graph, node, cutBrick(graph, uses, { first: first + i, last: first + i }).signature));
    const position = first === last ? String(first) : `${first}..${last}`;
    return { position, name: graph.layers[first]?.name ?? '', layers, identity: identityOf(layers) };
  });
  return { name, layers: graph.layers.length, sequences, edges: edgesOf(graph, cuts), wholeMs: undefined };
}
