import { type Model, type Node, readNames } from '../../../src/plugin-api.js';
import type { RepeatedBlocks } from './find-blocks.js';

function only<Value>(entries: ReadonlyMap<string, Value>, names: ReadonlySet<string>): ReadonlyMap<string, Value> {
  return new Map([...entries].filter(([name]) => names.has(name)));
}

/** Readers of the last block read the last kept one. @returns outputOf: the counterpart of each output of the whole */
export function shortenModel(model: Model, { first, length, count }: RepeatedBlocks, keep: number) {
  const { graph } = model;
  const { nodes } = graph;
  const end = first + count * length;
  const kept = first + keep * length;
  /** Of each left-out value in the last kept block. */
  const likeOf = new Map<string, string>();
  for (let index = kept; index < end; index++) {
    const like = nodes[kept - length + ((index - kept) % length)];
    for (const [at, name] of (nodes[index]?.outputs ?? []).entries()) likeOf.set(name, like?.outputs[at] ?? '');
  }
  const nameOf = (name: string): string => likeOf.get(name) ?? name;
  const after = nodes.slice(end).map((node): Node => ({ ...node, inputs: node.inputs.map(nameOf) }));
  const left = [...nodes.slice(0, kept), ...after];
  const outputs = [...new Set(graph.outputs.map(nameOf))];
  const read = new Set([...left.flatMap((node) => readNames(node)), ...outputs]);
  const wasRead = new Set(nodes.flatMap((node) => readNames(node)));
  const inputs = graph.inputs.filter((name) => read.has(name) || !wasRead.has(name));
  const there = new Set([...read, ...inputs, ...left.flatMap((node) => node.outputs)]);
  const shortened: Model['graph'] = {
    ...graph,
    nodes: left,
    inputs,
    outputs,
    initializers: only(graph.initializers, there),
    types: only(graph.types, there),
    given: graph.given && only(graph.given, new Set(inputs)),
  };
  return {
    model: { ...model, source: `${model.source}, ${keep} of ${count} blocks`, graph: shortened },
    outputOf: new Map(graph.outputs.map((name) => [name, nameOf(name)])),
  };
}
