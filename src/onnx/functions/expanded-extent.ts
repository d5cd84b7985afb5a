import type { AttributeProto, FunctionProto, NodeProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import type { FunctionTable } from './function-table.js';
import type { ReadingBudget } from '../bytes/reading-budget.js';
import { listSubgraphs } from '../model/subgraphs.js';

/** Most nodes after inlining. One counts once for each graph around it, because most algorithms visit it so often. */
const MAX_NODES = 2 ** 19;

/** Most nested subgraphs: each is three nested messages in a file, and a runtime reads at most 100. */
const MAX_DEPTH = 16;

const MAX_CALL_DEPTH = 50;

/** Sums and products stop here, so that they never become infinite or NaN. */
const BEYOND_ALL_LIMITS = 2 ** 40;

interface Extent {
  readonly nodes: number;
  readonly visits: number;
  readonly depth: number;
  readonly calls: number;
}

interface Placement {
  readonly count: number;
  /** Sum of the depths of all places. */
  readonly depths: number;
  readonly depth: number;
}

/** A function's extent as a linear form in its parameters: its own part, and the places of the callers' subgraphs. */
interface Form extends Extent {
  readonly placements: ReadonlyMap<string, Placement>;
}

class Sum implements Form {
  nodes = 0;
  visits = 0;
  depth = 0;
  calls = 0;
  readonly placements = new Map<string, Placement>();

  add(form: Form, { count, depths, depth }: Placement = ONCE): void {
    const product = (a: number, b: number): number => Math.min(a * b, BEYOND_ALL_LIMITS);
    const sum = (...numbers: readonly number[]): number => {
      return Math.min(
        numbers.reduce((a, b) => a + b, 0),
        BEYOND_ALL_LIMITS,
      );
    };
    this.nodes = sum(this.nodes, product(count, form.nodes));
    this.visits = sum(this.visits, product(count, form.visits), product(depths, form.nodes));
    this.depth = Math.max(this.depth, depth + form.depth);
    this.calls = Math.max(this.calls, form.calls);
    for (const [name, inner] of form.placements) {
      const before = this.placements.get(name) ?? NOWHERE;
      this.placements.set(name, {
        count: sum(before.count, product(count, inner.count)),
        depths: sum(before.depths, product(count, inner.depths), product(depths, inner.count)),
        depth: Math.max(before.depth, depth + inner.depth),
      });
    }
  }
}

const NOWHERE: Placement = { count: 0, depths: 0, depth: 0 };
const ONCE: Placement = { count: 1, depths: 0, depth: 0 };
const ONE_DEEPER: Placement = { count: 1, depths: 1, depth: 1 };
const NOTHING: Form = { nodes: 0, visits: 0, depth: 0, calls: 0, placements: new Map() };
const NODE: Form = { ...NOTHING, nodes: 1, visits: 1 };

/** Counts without inlining: it visits each function once, even where the function is called many times. */
class Counter {
  readonly #forms = new Map<FunctionProto, Form>();

  constructor(readonly functions: FunctionTable) {}

  /** @param callers the functions around the nodes, outermost first */
  nodes(nodes: readonly NodeProto[], callers: readonly FunctionProto[]): Sum {
    const total = new Sum();
    for (const node of nodes) {
      total.add(NODE);
      for (const attribute of node.attribute) total.add(this.#attribute(attribute, callers));
      const fn = this.functions.calledBy(node);
      if (fn === undefined) continue;
      const form = this.#function(fn, callers);
      total.add({ ...form, placements: NOTHING.placements });
      if (form.placements.size === 0) continue;
      const given = new Map([...fn.attributeProto, ...node.attribute].map((one) => [one.name, one]));
      for (const [name, placement] of form.placements) {
        const attribute = given.get(name);
        if (attribute !== undefined) total.add(this.#attribute(attribute, callers), placement);
      }
    }
    return total;
  }

  #attribute(attribute: AttributeProto, callers: readonly FunctionProto[]): Form {
    if (attribute.refAttrName !== '') {
      return { ...NOTHING, placements: new Map([[attribute.refAttrName, ONCE]]) };
    }
    const subgraphs = listSubgraphs([attribute]);
    if (subgraphs.length === 0) return NOTHING;
    const total = new Sum();
    for (const { node } of subgraphs) total.add(this.nodes(node, callers), ONE_DEEPER);
    total.depth = Math.max(total.depth, 1);
    return total;
  }

  #function(fn: FunctionProto, callers: readonly FunctionProto[]): Form {
    if (callers.includes(fn)) throw this.functions.error(fn, 'calls itself');
    const tooDeep = `is called more than ${MAX_CALL_DEPTH} levels deep`;
    if (callers.length >= MAX_CALL_DEPTH) throw this.functions.error(fn, tooDeep);
    let form = this.#forms.get(fn);
    if (form === undefined) {
      const body = this.nodes(fn.node, [...callers, fn]);
      form = { ...body, calls: body.calls + 1 };
      this.#forms.set(fn, form);
    }
    if (callers.length + form.calls > MAX_CALL_DEPTH) throw this.functions.error(fn, tooDeep);
    return form;
  }
}

/**
 * Checks the nodes that a graph has after inlining, before any function is inlined.
 *
 * @param budget of all models of the same request
 * @throws PlatformError 'model' for cycles of functions, and for more or deeper nodes than this project supports
 */
export function requireExtent(nodes: readonly NodeProto[], functions: FunctionTable, budget: ReadingBudget): void {
  const { visits, depth } = new Counter(functions).nodes(nodes, []);
  const fail = (problem: string): never => {
    throw new PlatformError('model', `${functions.source}: ${problem}. Split the model.`);
  };
  if (visits > MAX_NODES) {
    const counted = 'with its functions inlined, and each node counted once for each graph around it';
    fail(`the graph has more than ${MAX_NODES} nodes, ${counted}`);
  }
  if (depth > MAX_DEPTH) fail(`its subgraphs are nested more than ${MAX_DEPTH} deep`);
  budget.addNodes(visits, functions.source);
}
