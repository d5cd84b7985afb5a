import {
  type Benchmark,
  type BenchmarkInput,
  type DeclaredType,
  ELEMENT_TYPES,
  type ElementType,
  encodeModelToBytes,
  isPacked,
  intAttribute,
  type Model,
  type Node,
  computeSignature,
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
