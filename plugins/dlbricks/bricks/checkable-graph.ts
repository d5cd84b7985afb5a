import {
  type Benchmark,
  type LayerGraph,
  type Model,
  type Node,
  spelledOut,
  weightlessBenchmark,
} from '../../../src/plugin-api.js';

export interface CheckableGraph {
  /** Its nodes are named by {@link kernelName}. */
  readonly benchmark: Benchmark;
  /** Names of the kernels in the optimized graph, in the order of the bricks. */
  readonly names: readonly string[];
}

const KERNEL = 'k';

function kernelName(index: number): string {
  return `${KERNEL}${index}`;
}

export function kernelIndex(name: string): number | undefined {
  const [, index] = /^k(\d+)(?:\.|$)/.exec(name) ?? [];
  return index === undefined ? undefined : Number(index);
}

/**
 * The optimized graph of a model with made-up weights, and with the values of a run where bricks have such values.
 *
 * @param model the optimized graph
 * @param graph the layers of the same graph
 */
export function checkableGraph(model: Model, graph: LayerGraph): CheckableGraph {
  const { ofRun, given, layers, types } = graph;
  const known = new Map([...(given ?? []), ...(ofRun?.values ?? [])]);
  const indexOf = new Map(layers.map((layer, index) => [layer, index]));
  const made = new Set(model.graph.nodes.flatMap(({ outputs }) => outputs));
  const replaced = [...(ofRun?.values.keys() ?? [])].filter((name) => made.has(name));
  const nodes = model.graph.nodes.flatMap((node): readonly Node[] => {
    const index = indexOf.get(node);
    // A known value becomes an input, and what the kernel computes instead stays unread.
    const outputs = node.outputs.map((name) => (replaced.includes(name) ? `${name}\0unread` : name));
    const name = index === undefined ? node.name : kernelName(index);
    return spelledOut({ ...node, name, outputs });
  });
  const knownTypes = replaced.flatMap((name) => {
    const type = types.get(name) ?? graph.constants.get(name);
    return type === undefined ? [] : [[name, { elementType: type.elementType, dims: type.dims }] as const];
  });
  const whole = {
    ...model.graph,
    nodes,
    inputs: [...model.graph.inputs, ...replaced],
    types: new Map([...model.graph.types, ...knownTypes]),
    given: known,
  };
  return { benchmark: weightlessBenchmark({ ...model, graph: whole }), names: layers.map(({ name }) => name) };
}
