import type { GraphProto } from '../../generated/onnx/onnx.js';
import { SHAPE_ONLY } from '../model/constant-values.js';
import { readType } from '../model/declared-type.js';
import type { Node } from '../model/model.js';
import { convertNode } from '../model/nested-nodes.js';
import { isStandard } from '../model/opsets.js';
import { findStaticType } from '../model/static-type.js';
import { readNames, listSubgraphs } from '../model/subgraphs.js';
import { type SteeringInputs, findSteeringInputs } from './steering-inputs.js';

export type Decides = Exclude<keyof SteeringInputs, 'way'>;

export interface SteeringValue {
  readonly name: string;
  readonly aspect: 'content' | 'size';
  readonly decides: Decides;
}

export function readsShapeOnly({ opType, domain }: Pick<Node, 'opType' | 'domain'>): boolean {
  return isStandard({ domain }) && SHAPE_ONLY.has(opType);
}

/** Whether a RoiAlign takes a fixed number of samples, so that the sizes of its regions do not matter. */
function hasFixedSamples({ opType, attributes }: Node): boolean {
  return opType === 'RoiAlign' && attributes.some(({ name, i }) => name === 'sampling_ratio' && i > 0n);
}

/** Whether all branches of an If declare the same sizes of their outputs, so that the condition decides only its work. */
function hasFixedSizes({ opType, domain, attributes }: Node): boolean {
  if (opType !== 'If' || !isStandard({ domain })) return false;
  const sizes = listSubgraphs(attributes).map(({ output }) =>
    output.map(({ type }) => findStaticType(readType(type).type)?.dims.join('x')),
  );
  const [first = []] = sizes;
  return sizes.every((ofBranch) => ofBranch.every((dims, at) => dims !== undefined && dims === first[at]));
}

const DECIDES: readonly Decides[] = ['sizes', 'work', 'lengths'];

function ownSteering(node: Node): readonly SteeringValue[] {
  if (hasFixedSamples(node)) return [];
  const inputs = findSteeringInputs(node);
  return DECIDES.flatMap((decides) =>
    (inputs[decides] ?? []).flatMap((index): readonly SteeringValue[] => {
      const name = node.inputs[index] ?? '';
      return name === '' ? [] : [{ name, aspect: 'content', decides }];
    }),
  );
}

type Found = Omit<SteeringValue, 'decides'>;

/** Inputs and outputs of a Loop's body before the values that pass from one iteration to the next. */
const LOOP_INPUTS = 2;
const LOOP_OUTPUTS = 1;

/** Finds which values around a body steer something inside. The search goes from the operators back to their inputs. */
class BodySearch {
  readonly #producers = new Map<string, Node>();
  readonly #steering = new Map<Node, readonly SteeringValue[]>();
  readonly #inputs: ReadonlyMap<string, number>;
  readonly #constants: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  readonly #found: Found[] = [];
  readonly #open: Found[] = [];
  readonly #isLoop: boolean;

  constructor(
    private readonly node: Node,
    private readonly body: GraphProto,
  ) {
    const nodes = body.node.map(convertNode);
    this.#isLoop = node.opType === 'Loop';
    this.#inputs = new Map(body.input.map(({ name }, index) => [name, index]));
    this.#constants = new Set(body.initializer.map(({ name }) => name));
    for (const inner of nodes) {
      for (const name of inner.outputs) this.#producers.set(name, inner);
      const steering = findSteeringValues(inner);
      this.#steering.set(inner, steering);
      for (const { name, aspect } of steering) this.#need(name, aspect);
    }
    if (this.#isLoop) this.#need(body.output[0]?.name ?? '', 'content');
  }

  #need(name: string, aspect: Found['aspect']): void {
    const key = `${aspect} ${name}`;
    if (name === '' || this.#constants.has(name) || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#open.push({ name, aspect });
  }

  /** Names of the surrounding graph. */
  around(): readonly Found[] {
    for (let value = this.#open.pop(); value !== undefined; value = this.#open.pop()) {
      const producer = this.#producers.get(value.name);
      const index = this.#inputs.get(value.name);
      if (producer !== undefined) this.#needInputs(producer, value.aspect);
      else if (index === undefined) this.#found.push(value);
      else this.#needAround(index, value.aspect);
    }
    return this.#found;
  }

  #needInputs(producer: Node, aspect: Found['aspect']): void {
    const isShape = readsShapeOnly(producer);
    if (isShape && aspect === 'size') return;
    const ofInputs = isShape ? 'size' : aspect;
    for (const name of readNames(producer)) this.#need(name, ofInputs);
    if (aspect === 'content') return;
    for (const steering of this.#steering.get(producer) ?? []) this.#need(steering.name, steering.aspect);
  }

  /** An input of the body: its first value comes from outside, and in a loop the next ones come from the body. */
  #needAround(index: number, aspect: Found['aspect']): void {
    // The iteration's number and the condition come from the runtime.
    if (this.#isLoop && index < LOOP_INPUTS) return;
    const outer = this.node.inputs[index];
    if (outer !== undefined && outer !== '') this.#found.push({ name: outer, aspect });
    const next = this.#isLoop ? index - LOOP_INPUTS + LOOP_OUTPUTS : index;
    if (index < this.#states) this.#need(this.body.output[next]?.name ?? '', aspect);
  }

  /** Inputs of the body up to the last one that passes from one iteration to the next. */
  get #states(): number {
    const { input } = this.body;
    if (this.#isLoop) return input.length;
    const scanned = this.node.attributes.find(({ name }) => name === 'num_scan_inputs');
    return scanned === undefined ? 0 : input.length - Number(scanned.i);
  }
}

/** What decides a node's work and the sizes of its outputs, apart from its inputs' sizes; also through subgraphs. */
export function findSteeringValues(node: Node): readonly SteeringValue[] {
  const bodies = listSubgraphs(node.attributes);
  if (bodies.length === 0) return ownSteering(node);
  const decides = hasFixedSizes(node) ? 'work' : 'sizes';
  const inner = bodies.flatMap((body) => new BodySearch(node, body).around());
  return [...ownSteering(node), ...inner].map((found): SteeringValue => ({ ...found, decides }));
}

/** Values whose contents steer a node. */
export function steeringNames(node: Node): readonly string[] {
  return findSteeringValues(node).flatMap(({ name, aspect }) => (aspect === 'content' ? [name] : []));
}
