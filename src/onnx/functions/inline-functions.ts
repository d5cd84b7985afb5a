import type { AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import { runAtOnce, type Steps } from '../../base/steps.js';
import { sumOf } from '../../base/sum-of.js';
import type { FunctionTable } from './function-table.js';
import { domainLabel, importedOpsets } from '../model/opsets.js';
import { instantiate } from './instantiate-function.js';
import { decodePayload } from '../bytes/payload.js';
import { checkNodes, type ReadingBudget } from '../bytes/reading-budget.js';
import { mapSubgraphs, listSubgraphs } from '../model/subgraphs.js';

// Each call repeats the body's names and attributes, and files of bricks hold every copy. Sizes: characters and bytes.

const SIZE_PER_NAME = 16;

/** Most nested subgraphs: each is three nested messages in a file, and a runtime reads at most 100. */
const MAX_DEPTH = 16;

const MAX_CALL_DEPTH = 50;

/** Functions that call functions can double the graph with every level, and each call repeats the names in the body. */
export const MAX_INLINED_SIZE = 2 ** 26;

/** Larger tensors are weights, which are not copied; see steering.ts. */
const MAX_REPEATED_BYTES = 8192;

function sizeOfNames(names: readonly string[]): number {
  return names.reduce((size, name) => size + SIZE_PER_NAME + name.length, SIZE_PER_NAME);
}

function sizeOfTexts(texts: readonly Uint8Array[]): number {
  return texts.reduce((size, text) => size + SIZE_PER_NAME + text.length, 0);
}

function sizeOfTensor({ rawData, stringData }: TensorProto): number {
  return Math.min(decodePayload(rawData)?.byteLength ?? 0, MAX_REPEATED_BYTES) + sizeOfTexts(stringData);
}

function sizeOfAttribute({ name, s, floats, ints, strings, t, tensors }: AttributeProto): number {
  const values = 4 * floats.length + 8 * ints.length + s.length + sizeOfTexts(strings);
  const inTensors = [...(t === undefined ? [] : [t]), ...tensors].reduce((size, one) => size + sizeOfTensor(one), 0);
  return SIZE_PER_NAME + name.length + values + inTensors;
}

function sizeOfNode({ name, input, output, attribute }: NodeProto): number {
  const attributes = attribute.reduce((size, one) => size + sizeOfAttribute(one), 0);
  return sizeOfNames([name]) + sizeOfNames(input) + sizeOfNames(output) + attributes;
}

function sizeOfGraph({ input, output, initializer, node }: GraphProto): number {
  const names = [...input, ...output, ...initializer].map(({ name }) => name);
  return sizeOfNames(names) + sizeOfNodes(node);
}

function sizeOfNodes(nodes: readonly NodeProto[]): number {
  return nodes.reduce((size, node) => {
    const inner = listSubgraphs(node.attribute).reduce((sum, graph) => sum + sizeOfGraph(graph), 0);
    return size + sizeOfNode(node) + inner;
  }, 0);
}

function sizeOfFunction({ input, output, attributeProto, opsetImport, node }: FunctionProto): number {
  const rest = (attributeProto.length + opsetImport.length) * SIZE_PER_NAME;
  return sizeOfNames(input) + sizeOfNames(output) + rest + sizeOfNodes(node);
}

function* namesIn(graph: GraphProto): Generator<string> {
  for (const { name } of [...graph.input, ...graph.output, ...graph.initializer]) yield name;
  for (const node of graph.node) {
    yield* node.input;
    yield* node.output;
    for (const subgraph of listSubgraphs(node.attribute)) yield* namesIn(subgraph);
  }
}

function unusedPrefix(graph: GraphProto): string {
  let prefix = 'call';
  for (const name of namesIn(graph)) {
    const [beginning = ''] = /^call_*/.exec(name) ?? [];
    if (beginning.length >= prefix.length) prefix = `${beginning}_`;
  }
  return prefix;
}

function checkDepth(depth: number, source: string): void {
  if (depth <= MAX_DEPTH) return;
  const problem = `its subgraphs are nested more than ${MAX_DEPTH} deep`;
  throw new PlatformError('model', `${source}: ${problem}. Split the model.`);
}

/** The nodes of graphs within `depth` others, each counted once for each graph around it. */
function countVisits(nodes: readonly NodeProto[], source: string, depth = 0): number {
  checkDepth(depth, source);
  return nodes.reduce((sum, { attribute }) => {
    const inner = listSubgraphs(attribute).map(({ node }) => countVisits(node, source, depth + 1));
    return sum + depth + 1 + sumOf(inner);
  }, 0);
}

class Inliner {
  readonly #prefix: string;
  readonly #sizes = new Map<FunctionProto, number>();
  #calls = 0;
  #size = 0;

  constructor(
    readonly functions: FunctionTable,
    graph: GraphProto,
    readonly opsets: Map<string, number>,
    readonly budget: ReadingBudget,
  ) {
    this.#prefix = unusedPrefix(graph);
  }

  /** @param callers the functions around the nodes, outermost first @param depth the graphs around them */
  *expand(nodes: readonly NodeProto[], callers: readonly FunctionProto[] = [], depth = 0): Steps<NodeProto[]> {
    checkDepth(depth, this.functions.source);
    const expandGraph = (graph: GraphProto): GraphProto => {
      return { ...graph, node: runAtOnce(this.expand(graph.node, callers, depth + 1)) };
    };
    const expanded: NodeProto[] = [];
    for (const node of nodes) {
      this.#addSize(sizeOfNode(node));
      const fn = this.functions.calledBy(node);
      const flat = { ...node, attribute: node.attribute.map((attribute) => mapSubgraphs(attribute, expandGraph)) };
      if (fn === undefined) expanded.push(flat);
      else {
        const body = this.#inlineBody(fn, flat, callers);
        for (const inner of yield* this.expand(body, [...callers, fn], depth)) expanded.push(inner);
        yield;
      }
    }
    return expanded;
  }

  #inlineBody(fn: FunctionProto, node: NodeProto, callers: readonly FunctionProto[]): readonly NodeProto[] {
    if (callers.includes(fn)) throw this.functions.error(fn, 'calls itself');
    if (callers.length >= MAX_CALL_DEPTH) {
      throw this.functions.error(fn, `is called more than ${MAX_CALL_DEPTH} levels deep`);
    }
    const size = this.#sizes.get(fn) ?? sizeOfFunction(fn);
    this.#sizes.set(fn, size);
    this.#addSize(size);
    this.#checkOpsets(fn);
    const body = instantiate(fn, node, `${this.#prefix}${this.#calls++}/`);
    if (typeof body === 'string') throw this.functions.error(fn, body);
    return body;
  }

  #addSize(size: number): void {
    const { source } = this.functions;
    this.#size += size;
    if (this.#size > MAX_INLINED_SIZE) {
      const problem = 'its functions call each other so often that the graph becomes too large';
      throw new PlatformError('model', `${source}: ${problem}. Export the model without functions.`);
    }
    this.budget.addInlined(size, source);
  }

  /** A graph has one version per domain. Domains that only a function imports are added to the graph's. */
  #checkOpsets(fn: FunctionProto): void {
    const label = `${this.functions.source}: function ${quoted(fn.name)}`;
    for (const [domain, version] of importedOpsets(fn.opsetImport, label)) {
      const ours = this.opsets.get(domain) ?? version;
      if (ours !== version) {
        const problem = `uses opset ${version} of ${domainLabel(domain)}, while the model uses ${ours}`;
        throw this.functions.error(fn, problem);
      }
      this.opsets.set(domain, version);
    }
  }
}

/**
 * Replaces calls of functions by their bodies, at any depth. Source: FunctionProto in ONNX's onnx.proto.
 *
 * @param budget of all models of the same request
 * @throws PlatformError 'model' naming a function that cannot be inlined, and for more or deeper nodes than this project
 *   supports
 */
export function* inlineFunctions(
  functions: FunctionTable,
  graph: GraphProto,
  opsets: Map<string, number>,
  budget: ReadingBudget,
): Steps<readonly NodeProto[]> {
  const { source, isEmpty } = functions;
  const nodes = isEmpty ? graph.node : yield* new Inliner(functions, graph, opsets, budget).expand(graph.node);
  const visits = countVisits(nodes, source);
  checkNodes(visits, source);
  budget.addNodes(visits, source);
  return nodes;
}
