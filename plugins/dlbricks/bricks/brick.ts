import {
  anonymousAttributes,
  CLASS_VALUES,
  type Benchmark,
  type BenchmarkInput,
  type DeclaredType,
  decidesTime,
  type InputValues,
  type LayerGraph,
  type Node,
  normalizeDomain,
  readNames,
  type Renaming,
  sortedAttributes,
  steeringNames,
  type Tensor,
  weightlessBenchmark,
  maxOf,
} from '../../../src/plugin-api.js';
import { canonicalLayer, canonicalOpsets } from './canonical-layer.js';
import type { LastUses } from '../cut/last-uses.js';
import type { Sequence } from '../cut/layer-cut.js';

/** The newest that has every element type (IR 10, ONNX 1.16). */
const BRICK_IR_VERSION = 10;

/** One unique sequence, without weights. Its `signature` names it. */
export interface Brick extends Benchmark {
  readonly operators: readonly string[];
}

const MAX_OPERATORS_SHOWN = 4;

/** As in "Conv+Conv+MaxPool+Conv+... (20)". */
export function operatorsLabel(operators: readonly string[]): string {
  if (operators.length <= MAX_OPERATORS_SHOWN) return operators.join('+');
  return `${operators.slice(0, MAX_OPERATORS_SHOWN).join('+')}+... (${operators.length})`;
}

/** An input with this prefix is a weight; every other input is an activation. */
const CONSTANT = 'c';

export function inputRoleOf(inputName: string): BenchmarkInput['role'] {
  return inputName.startsWith(CONSTANT) ? 'weight' : 'activation';
}

/** In the order of first use, so that names show neither the original ones nor the place in the model. */
class Anonymizer implements Renaming {
  private readonly names = new Map<string, string>();
  private count = 0;

  freshName(): string {
    return `v${this.count++}`;
  }

  nameConstant(value: string): void {
    if (!this.names.has(value)) this.names.set(value, `${CONSTANT}${this.count++}`);
  }

  nameOf(value: string): string {
    if (value === '') return '';
    const name = this.names.get(value) ?? this.freshName();
    this.names.set(value, name);
    return name;
  }
}

/** A longer list may be private data; a brick discloses only its range. */
const MAX_VALUES = 1024;

/** 0 where no list of known values is longer than a suite may show. */
export function longestPrivateList({ inputs }: Pick<Brick, 'inputs'>): number {
  const lengths = inputs.map(({ isGiven, fill }) => (isGiven === true ? (fill.list?.length ?? 0) : 0));
  const longest = Math.max(0, maxOf(lengths));
  return longest > MAX_VALUES ? longest : 0;
}

/** All known values of those that steer the sequence. Others of a class become those of the class. */
function knownValues(graph: LayerGraph, layers: readonly Node[]): (value: string) => InputValues | undefined {
  const steering = new Set(layers.flatMap(steeringNames));
  const isFloat32 = (value: string): boolean =>
    (graph.types.get(value) ?? graph.constants.get(value))?.elementType === 'float32';
  return (value) => {
    const given = graph.given?.get(value);
    if (steering.has(value)) return given ?? graph.ofRun?.values.get(value);
    const one = graph.classes?.get(value);
    if (one !== undefined && isFloat32(value)) return decidesTime(one, layers) ? CLASS_VALUES[one] : undefined;
    if (given === undefined) return undefined;
    const { low, high, list } = given;
    return list === undefined || list.length > MAX_VALUES ? { low, high } : { low, high, list };
  };
}

/**
 * The file has all that can make two sequences run differently, in canonical form, and nothing else: no names, no
 * weights. Its hash is therefore the signature. Nodes are in the model's topological order.
 */
export function cutBrick(graph: LayerGraph, lastUse: LastUses, sequence: Sequence): Brick {
  let added = 0;
  // No value of a file has a NUL in its name.
  const unused = (): string => `\0${added++}`;
  const own = graph.layers.slice(sequence.first, sequence.last + 1);
  const inner = new Set(own.flatMap(({ outputs }) => outputs));
  const canonical = own.map((layer) => {
    const sorted = { ...layer, attributes: sortedAttributes(layer.attributes) };
    return canonicalLayer(sorted, graph, (value) => inner.has(value), unused);
  });
  const layers = canonical.map(({ layer }) => layer);
  const valuesOf = knownValues(graph, own);
  const constants = new Map(canonical.flatMap((one) => [...one.constants]));
  const names = new Anonymizer();
  const types = new Map<string, DeclaredType>();
  const initializers = new Map<string, Tensor>();
  const given = new Map<string, InputValues>();
  const inputs: string[] = [];
  const outputs: string[] = [];
  const produced = new Set<string>();

  const read = (value: string): void => {
    const constant = constants.get(value) ?? graph.constants.get(value);
    if (constant !== undefined) names.nameConstant(value);
    const name = names.nameOf(value);
    if (produced.has(value) || types.has(name) || initializers.has(name)) return;
    const type = graph.types.get(value);
    const values = valuesOf(value);
    if (values !== undefined) given.set(name, values);
    if (constant !== undefined) initializers.set(name, constant);
    else if (type !== undefined) {
      types.set(name, type);
      inputs.push(name);
    }
  };

  const nodes = layers.map((layer): Node => {
    for (const value of readNames(layer)) read(value);
    const outputNames = layer.outputs.map((value) => {
      produced.add(value);
      const name = names.nameOf(value);
      const type = graph.types.get(value);
      if (type !== undefined) types.set(name, type);
      return name;
    });
    return {
      name: '',
      opType: layer.opType,
      domain: normalizeDomain(layer.domain),
      inputs: layer.inputs.map((value) => names.nameOf(value)),
      outputs: outputNames,
      attributes: anonymousAttributes(layer.attributes, names),
    };
  });
  for (const value of layers.flatMap((layer) => layer.outputs)) {
    if (graph.opaque.has(value)) continue;
    if ((lastUse.get(value) ?? -1) > sequence.last) outputs.push(names.nameOf(value));
  }

  const elementTypes = [...types.values(), ...initializers.values()].map(({ elementType }) => elementType);
  const alsoIn = new Map(nodes.map((node, index) => [node, canonical[index]?.alsoIn]));
  const benchmark = weightlessBenchmark({
    source: 'brick',
    irVersion: BRICK_IR_VERSION,
    opsets: canonicalOpsets(graph, nodes, elementTypes, alsoIn),
    graph: { name: 'brick', nodes, inputs, outputs, initializers, types, given },
  });
  return { ...benchmark, operators: layers.map(({ opType }) => opType) };
}
