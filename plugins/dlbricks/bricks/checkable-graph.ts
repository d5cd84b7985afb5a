import {
  type Benchmark,
  type LayerGraph,
  type Model,
  type Node,
  spelledOut,
  valuesOfClass,
  weightlessBenchmark,
} from '../../../src/plugin-api.js';

export interface CheckableGraph {
  /** Kernels are named k0, k1 and so on. */
  readonly benchmark: Benchmark;
  /** In the order of the bricks. */
  readonly names: readonly string[];
}

export function kernelIndex(name: string): number | undefined {
  const [, index] = /^k(\d+)(?:\.|$)/.exec(name) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** With made-up weights, and the values of a run where bricks have such values. @param model the optimized graph */
export function checkableGraph(model: Model, graph: LayerGraph): CheckableGraph {
  const { ofRun, given, layers, types, classes = [] } = graph;
  const constants = model.graph.initializers;
  // The runtime has computed masks from constants.
  const masks = [...classes].flatMap(([name, one]) => {
    const constant = constants.get(name);
    return constant?.elementType === 'float32' ? [[name, valuesOfClass(one, constant)] as const] : [];
  });
  const known = new Map([...masks, ...(given ?? []), ...(ofRun?.values ?? [])]);
  const indexOf = new Map(layers.map((layer, index) => [layer, index]));
  const made = new Set(model.graph.nodes.flatMap(({ outputs }) => outputs));
  const replaced = [...(ofRun?.values.keys() ?? [])].filter((name) => made.has(name));
  const nodes = model.graph.nodes.flatMap((node): readonly Node[] => {
    const index = indexOf.get(node);
    // A known value becomes an input, and what the kernel computes instead stays unread.
    const outputs = node.outputs.map((name) => (replaced.includes(name) ? `${name}\0unread` : name));
    const name = index === undefined ? node.name : `k${index}`;
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
