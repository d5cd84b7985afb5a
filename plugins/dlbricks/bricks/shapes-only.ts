import {
  type Benchmark,
  type BenchmarkInput,
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

export function buildBenchmark(model: Model, inputs: readonly BenchmarkInput[]): Benchmark {
  const bytes = encodeModelToBytes(model);
  return { signature: computeSignature(bytes), model: bytes, inputs };
}
