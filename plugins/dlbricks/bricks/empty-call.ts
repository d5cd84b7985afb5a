import {
  type Benchmark,
  type BenchmarkInput,
  type Tensor,
  type TensorType,
  type DeclaredType,
  elementCount,
  ELEMENT_TYPES,
  type ElementType,
  encodeModelToBytes,
  isPacked,
  intAttribute,
  type Model,
  type Node,
  computeSignature,
  sumOf,
  UNPACKED,
} from '../../../src/plugin-api.js';

/** Every opset has Shape and Concat. */
export const ANY_OPSET = 13;

/** The only output of a graph whose values stay in the runtime. */
export const JOINED = 'joined';

export const SHAPE: DeclaredType = { elementType: 'int64', dims: undefined };

export function joinNode(inputs: readonly string[]): Node {
  const attributes = [intAttribute('axis', 0)];
  return { name: '', opType: 'Concat', domain: '', inputs, outputs: [JOINED], attributes };
}

export function shapeNode(of: string, output: string): Node {
  return { name: '', opType: 'Shape', domain: '', inputs: [of], outputs: [output], attributes: [] };
}

/** The runtime has no Shape for packed types, so their values are cast first. */
export function shapeNodes(of: string, output: string, elementType: ElementType | undefined): readonly Node[] {
  if (elementType === undefined || !isPacked(elementType)) return [shapeNode(of, output)];
  const wide = `${output}_wide`;
  const attributes = [intAttribute('to', ELEMENT_TYPES[UNPACKED].code)];
  const cast = { name: '', opType: 'Cast', domain: '', inputs: [of], outputs: [wide], attributes };
  return [cast, shapeNode(wide, output)];
}

/** Without what its inputs and outputs say. */
interface Inner extends Omit<Model, 'graph'> {
  readonly graph: Omit<Model['graph'], 'inputs' | 'outputs' | 'types'>;
}

export function buildBenchmark(
  model: Inner,
  inputs: readonly BenchmarkInput[],
  outputs: ReadonlyMap<string, DeclaredType> = new Map([[JOINED, SHAPE]]),
): Benchmark {
  const types = new Map<string, DeclaredType>(
    inputs.map(({ name, elementType, dims }) => [name, { elementType, dims }]),
  );
  for (const [name, type] of outputs) types.set(name, type);
  const names = { inputs: inputs.map(({ name }) => name), outputs: [...outputs.keys()] };
  const bytes = encodeModelToBytes({ ...model, graph: { ...model.graph, ...names, types } });
  return { signature: computeSignature(bytes), model: bytes, inputs };
}

export interface EmptyCall {
  readonly inputs: number;
  readonly outputs: number;
  /** Elements of all inputs that are texts; absent for none. Each is copied on its way into the runtime. */
  readonly texts?: number | undefined;
  /** The same of all outputs. */
  readonly returned_texts?: number | undefined;
}

export function countTexts(types: readonly DeclaredType[]): number {
  return sumOf(
    types.map(({ elementType, dims = [] }) => {
      return elementType === 'string' ? elementCount(dims.filter((dim) => typeof dim === 'number')) : 0;
    }),
  );
}

/** They are cast before their shapes are taken. */
export interface PackedValues {
  readonly types: readonly TensorType[];
  /** Has these types. */
  readonly irVersion: number;
  readonly opset: number;
}

const TEXTS = 'texts';

/** As many as a run returns: one short text, repeated. */
function textsOf(count: number): readonly (readonly [string, Tensor])[] {
  const size = new Uint8Array(BigInt64Array.of(BigInt(count)).buffer);
  return [
    ['text', { elementType: 'string', dims: [1], data: { kind: 'strings', values: [Buffer.from('machine')] } }],
    ['count', { elementType: 'int64', dims: [1], data: { kind: 'inline', bytes: size } }],
  ];
}

/** @param joined whether shapes leave as one output, or each as its own */
export function emptyCall(
  { inputs, outputs: shapes, texts = 0, returned_texts: returned = 0 }: EmptyCall,
  { joined, packed }: { readonly joined: boolean; readonly packed?: PackedValues | undefined },
): Benchmark {
  const made = Array.from({ length: Math.max(1, inputs) }, (_, index): BenchmarkInput => {
    const type = { elementType: 'float32', dims: [1] } as const;
    return { name: `x${index}`, role: 'activation', ...type, fill: { low: -1, high: 1, seed: index + 1 } };
  });
  const [first] = made;
  if (texts > 0 && first !== undefined) made[0] = { ...first, elementType: 'string', dims: [texts] };
  const values = (packed?.types ?? []).map((packedType, index): BenchmarkInput => {
    return { name: `packed${index}`, role: 'weight', ...packedType, fill: { low: 0, high: 1, seed: index + 1 } };
  });
  const outputs = Array.from({ length: shapes }, (_, index) => `shape${index}`);
  const nodes = outputs.flatMap((output, index) => {
    const value = values[index] ?? made[index % made.length];
    return value === undefined ? [] : shapeNodes(value.name, output, value.elementType);
  });
  const leaving = new Map<string, DeclaredType>((joined ? [JOINED] : outputs).map((name) => [name, SHAPE]));
  if (returned > 0) {
    // In place of the first shape.
    const [replaced = ''] = leaving.keys();
    leaving.delete(replaced);
    leaving.set(TEXTS, { elementType: 'string', dims: [returned] });
    nodes.push({ name: '', opType: 'Expand', domain: '', inputs: ['text', 'count'], outputs: [TEXTS], attributes: [] });
  }
  const model = {
    source: 'empty call',
    irVersion: packed?.irVersion ?? 10,
    opsets: new Map([['', packed?.opset ?? ANY_OPSET]]),
    graph: {
      name: 'call',
      nodes: joined ? [...nodes, joinNode(outputs)] : nodes,
      initializers: new Map(returned > 0 ? textsOf(returned) : []),
    },
  };
  return buildBenchmark(model, [...made, ...values], leaving);
}
