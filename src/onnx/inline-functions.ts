import type { FunctionProto, GraphProto, ModelProto, NodeProto } from '../generated/onnx/onnx.js';
import { PlatformError } from '../base/errors.js';
import { domainLabel, domainOf, importedOpsets } from './opsets.js';
import { instantiate } from './instantiate-function.js';
import { quoted } from '../base/quoted.js';
import { mapSubgraphs, subgraphsOf } from './subgraphs.js';

/**
 * Functions that call functions can double the graph with every level, and each call repeats the names in the body. What
 * inlining makes in all is limited, in characters of names and the like.
 */
const MAX_INLINED_SIZE = 2 ** 26;
const MAX_CALL_DEPTH = 50;
const SIZE_PER_NAME = 16;

function sizeOfNames(names: readonly string[]): number {
  return names.reduce((size, name) => size + SIZE_PER_NAME + name.length, SIZE_PER_NAME);
}

/** The node alone, without the nodes of its subgraphs. */
function sizeOfNode({ name, input, output, attribute }: NodeProto): number {
  return sizeOfNames([name]) + sizeOfNames(input) + sizeOfNames(output) + attribute.length * SIZE_PER_NAME;
}

function sizeOfGraph({ input, output, initializer, node }: GraphProto): number {
  const names = [...input, ...output, ...initializer].map(({ name }) => name);
  return sizeOfNames(names) + sizeOfNodes(node);
}

function sizeOfNodes(nodes: readonly NodeProto[]): number {
  return nodes.reduce((size, node) => {
    const inner = subgraphsOf(node.attribute).reduce((sum, graph) => sum + sizeOfGraph(graph), 0);
    return size + sizeOfNode(node) + inner;
  }, 0);
}

function sizeOfFunction({ input, output, attributeProto, opsetImport, node }: FunctionProto): number {
  const rest = (attributeProto.length + opsetImport.length) * SIZE_PER_NAME;
  return sizeOfNames(input) + sizeOfNames(output) + rest + sizeOfNodes(node);
}

function keyOf(domain: string, name: string, overload: string): string {
  return JSON.stringify([domainOf(domain), name, overload]);
}

function* namesIn(graph: GraphProto): Generator<string> {
  for (const { name } of [...graph.input, ...graph.output, ...graph.initializer]) yield name;
  for (const node of graph.node) {
    yield* node.input;
    yield* node.output;
    for (const subgraph of subgraphsOf(node.attribute)) yield* namesIn(subgraph);
  }
}

/** A beginning that no name in the graph has. */
function unusedPrefix(graph: GraphProto): string {
  let prefix = 'call';
  for (const name of namesIn(graph)) {
    const [beginning = ''] = /^call_*/.exec(name) ?? [];
    if (beginning.length >= prefix.length) prefix = `${beginning}_`;
  }
  return prefix;
}

class Inliner {
  readonly #functions: ReadonlyMap<string, FunctionProto>;
  readonly #prefix: string;
  readonly #sizes = new Map<FunctionProto, number>();
  #calls = 0;
  #size = 0;

  constructor(
    functions: readonly FunctionProto[],
    graph: GraphProto,
    readonly opsets: Map<string, number>,
    readonly source: string,
  ) {
    this.#functions = new Map(functions.map((fn) => [keyOf(fn.domain, fn.name, fn.overload), fn]));
    if (this.#functions.size < functions.length) {
      throw new PlatformError('model', `${source} defines a function twice. Export the model again.`);
    }
    this.#prefix = unusedPrefix(graph);
  }

  /** @param callers the functions that the nodes come from, outermost first */
  expand(nodes: readonly NodeProto[], callers: readonly FunctionProto[]): NodeProto[] {
    const expandGraph = (graph: GraphProto): GraphProto => ({ ...graph, node: this.expand(graph.node, callers) });
    const expanded: NodeProto[] = [];
    for (const node of nodes) {
      this.#grow(sizeOfNode(node));
      const fn = this.#functions.get(keyOf(node.domain, node.opType, node.overload));
      const flat = { ...node, attribute: node.attribute.map((attribute) => mapSubgraphs(attribute, expandGraph)) };
      if (fn === undefined) expanded.push(flat);
      else for (const inner of this.#call(fn, flat, callers)) expanded.push(inner);
    }
    return expanded;
  }

  #call(fn: FunctionProto, node: NodeProto, callers: readonly FunctionProto[]): readonly NodeProto[] {
    if (callers.includes(fn)) throw this.#error(fn, 'calls itself');
    if (callers.length >= MAX_CALL_DEPTH) throw this.#error(fn, `is called more than ${MAX_CALL_DEPTH} levels deep`);
    const size = this.#sizes.get(fn) ?? sizeOfFunction(fn);
    this.#sizes.set(fn, size);
    this.#grow(size);
    this.#checkOpsets(fn);
    const body = instantiate(fn, node, `${this.#prefix}${this.#calls++}/`);
    if (typeof body === 'string') throw this.#error(fn, body);
    return this.expand(body, [...callers, fn]);
  }

  /** A graph has one version per domain; what only a function imports becomes the graph's. */
  #checkOpsets(fn: FunctionProto): void {
    const label = `${this.source}: function ${quoted(fn.name)}`;
    for (const [domain, version] of importedOpsets(fn.opsetImport, label)) {
      const ours = this.opsets.get(domain) ?? version;
      if (ours !== version) {
        throw this.#error(fn, `uses opset ${version} of ${domainLabel(domain)}, while the model uses ${ours}`);
      }
      this.opsets.set(domain, version);
    }
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.#size <= MAX_INLINED_SIZE) return;
    const advice = 'Export the model without functions.';
    throw new PlatformError(
      'model',
      `${this.source}: its functions call each other so often that the graph becomes too large. ${advice}`,
    );
  }

  #error(fn: FunctionProto, problem: string): PlatformError {
    const name = `function ${quoted(fn.name)} of domain ${domainLabel(domainOf(fn.domain))}`;
    const advice = 'Export the model with its functions inlined (onnx.inliner).';
    return new PlatformError('model', `${this.source}: ${name} ${problem}. ${advice}`);
  }
}

/**
 * The nodes of the model's graph with every call of a model-local function replaced by the function's body, at any
 * depth and inside of subgraphs. A function goes before an operator of the same name.
 * Source: FunctionProto in the ONNX project's onnx.proto.
 *
 * @param opsets the model's imports by domain; those that only a called function has are added
 * @throws PlatformError 'model' naming a function that cannot be inlined
 */
export function inlineFunctions(
  { functions }: Pick<ModelProto, 'functions'>,
  graph: GraphProto,
  opsets: Map<string, number>,
  source: string,
): readonly NodeProto[] {
  return functions.length === 0 ? graph.node : new Inliner(functions, graph, opsets, source).expand(graph.node, []);
}
