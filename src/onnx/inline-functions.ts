import type { FunctionProto, GraphProto, ModelProto, NodeProto } from '../generated/onnx/onnx.js';
import { PlatformError } from '../base/errors.js';
import { countExpansion } from './count-expansion.js';
import { domainLabel, domainOf, importedOpsets } from './opsets.js';
import { instantiate } from './instantiate-function.js';
import { quoted } from './quoted.js';
import type { ReadingBudget } from './reading-budget.js';
import { sizeOfFunction, sizeOfNode } from './size-of-names.js';
import { mapSubgraphs, subgraphsOf } from './subgraphs.js';

const MAX_CALL_DEPTH = 50;

/** Levels of subgraphs that the file format's own limit on nesting leaves room for. */
const MAX_SUBGRAPH_DEPTH = 32;

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

  constructor(
    functions: readonly FunctionProto[],
    graph: GraphProto,
    readonly opsets: Map<string, number>,
    readonly source: string,
    readonly budget: ReadingBudget,
  ) {
    this.#functions = new Map(functions.map((fn) => [keyOf(fn.domain, fn.name, fn.overload), fn]));
    if (this.#functions.size < functions.length) {
      throw new PlatformError('model', `${source} defines a function twice. Export the model again.`);
    }
    this.#prefix = unusedPrefix(graph);
  }

  /** Refuses what would become too large before any of it is made. */
  check(nodes: readonly NodeProto[]): void {
    const { size, depth } = countExpansion(nodes, (node) => this.#functionOf(node), MAX_CALL_DEPTH);
    this.budget.requireInlined(size, this.source);
    if (depth <= MAX_SUBGRAPH_DEPTH) return;
    const problem = `its functions make subgraphs that are nested ${depth} deep; ${MAX_SUBGRAPH_DEPTH} is the most`;
    throw new PlatformError('model', `${this.source}: ${problem}. Export the model without functions.`);
  }

  /** @param callers the functions that the nodes come from, outermost first */
  expand(nodes: readonly NodeProto[], callers: readonly FunctionProto[]): NodeProto[] {
    const expandGraph = (graph: GraphProto): GraphProto => ({ ...graph, node: this.expand(graph.node, callers) });
    const expanded: NodeProto[] = [];
    for (const node of nodes) {
      this.budget.addInlined(sizeOfNode(node), this.source);
      const fn = this.#functionOf(node);
      const flat = { ...node, attribute: node.attribute.map((attribute) => mapSubgraphs(attribute, expandGraph)) };
      if (fn === undefined) expanded.push(flat);
      else for (const inner of this.#call(fn, flat, callers)) expanded.push(inner);
    }
    return expanded;
  }

  #functionOf({ domain, opType, overload }: NodeProto): FunctionProto | undefined {
    return this.#functions.get(keyOf(domain, opType, overload));
  }

  #call(fn: FunctionProto, node: NodeProto, callers: readonly FunctionProto[]): readonly NodeProto[] {
    if (callers.includes(fn)) throw this.#error(fn, 'calls itself');
    if (callers.length >= MAX_CALL_DEPTH) throw this.#error(fn, `is called more than ${MAX_CALL_DEPTH} levels deep`);
    const size = this.#sizes.get(fn) ?? sizeOfFunction(fn);
    this.#sizes.set(fn, size);
    this.budget.addInlined(size, this.source);
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

  #error(fn: FunctionProto, problem: string): PlatformError {
    const name = `function ${quoted(fn.name)} of domain ${domainLabel(domainOf(fn.domain))}`;
    const advice = 'Export the model with its functions inlined (onnx.inliner).';
    return new PlatformError('model', `${this.source}: ${name} ${problem}. ${advice}`);
  }
}

export interface InlineOptions {
  /** The model's imports by domain; those that only a called function has are added. */
  readonly opsets: Map<string, number>;
  readonly source: string;
  /** What inlining may make. */
  readonly budget: ReadingBudget;
}

/**
 * The nodes of the model's graph with every call of a model-local function replaced by the function's body, at any
 * depth and inside of subgraphs. A function goes before an operator of the same name.
 * Source: FunctionProto in the ONNX project's onnx.proto.
 *
 * @throws PlatformError 'model' naming a function that cannot be inlined
 */
export function inlineFunctions(
  { functions }: Pick<ModelProto, 'functions'>,
  graph: GraphProto,
  { opsets, source, budget }: InlineOptions,
): readonly NodeProto[] {
  if (functions.length === 0) return graph.node;
  const inliner = new Inliner(functions, graph, opsets, source, budget);
  inliner.check(graph.node);
  return inliner.expand(graph.node, []);
}
