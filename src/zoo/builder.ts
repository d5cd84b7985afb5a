import { PlatformError } from '../base/errors.js';
import type { AttributeProto } from '../generated/onnx/onnx.js';
import { type ElementType, tensorBytes } from '../onnx/model/element-type.js';
import type { DeclaredType, Dimension, Fill, Model, Node, Tensor } from '../onnx/model/model.js';

/** The default of PyTorch's exporter for years, and the first opset with LayerNormalization. */
const OPSET = 17;
/** Of ONNX Runtime. */
const RUNTIME_DOMAIN = 'com.microsoft';
/** Of the file format; it came with opset 17 (ONNX 1.12). */
const IR_VERSION = 8;

export interface Value {
  readonly graph: GraphBuilder;
  readonly name: string;
  readonly elementType: ElementType;
  readonly dims: readonly Dimension[];
}

export type OutputType = Pick<Value, 'elementType' | 'dims'>;

/** Layers are added in the order in which they are applied, which is a topological order. */
export class GraphBuilder {
  readonly #nodes: Node[] = [];
  readonly #inputs: string[] = [];
  readonly #types = new Map<string, DeclaredType>();
  readonly #initializers = new Map<string, Tensor>();
  readonly #outputs = new Map<string, string>();

  constructor(
    readonly name: string,
    private readonly seed: number,
  ) {}

  input(name: string, elementType: ElementType, dims: readonly Dimension[]): Value {
    this.#inputs.push(name);
    this.#types.set(name, { elementType, dims });
    return { graph: this, name, elementType, dims };
  }

  textInputs(): readonly [words: Value, mask: Value, positions: Value] {
    const input = (name: string): Value => this.input(name, 'int64', ['batch', 'sequence']);
    return [input('input_ids'), input('attention_mask'), input('position_ids')];
  }

  weight(role: string, dims: readonly number[], low: number, high: number): Value {
    return this.#fill(role, dims, { low, high, seed: this.#nextSeed() });
  }

  tiedWeight(role: string, dims: readonly number[], original: Value): Value {
    return this.#fill(role, dims, this.#fillOf(original));
  }

  /** A copy of another weight counts with it as one parameter. @param dims the dimensions of the bytes */
  packedWeight(role: string, dims: readonly number[], original?: Value): Value {
    const seed = original === undefined ? this.#nextSeed() : this.#fillOf(original).seed;
    return this.#fill(role, dims, { low: 0, high: 255, seed }, 'uint8');
  }

  integerWeight(role: string, elementType: 'int8' | 'int32', dims: readonly number[], bound: number): Value {
    return this.#fill(role, dims, { low: -bound, high: bound, seed: this.#nextSeed() }, elementType);
  }

  zeros(role: string, elementType: 'uint8' | 'int8' | 'int32', dims: readonly number[]): Value {
    return this.#inline(role, elementType, dims, new ArrayBuffer(tensorBytes({ elementType, dims })));
  }

  integers(role: string, values: readonly number[], dims = [values.length]): Value {
    return this.#inline(role, 'int64', dims, new BigInt64Array(values.map(BigInt)).buffer);
  }

  scalar(role: string, value: number): Value {
    return this.floats(role, [value], []);
  }

  floats(role: string, values: readonly number[], dims = [values.length]): Value {
    return this.#inline(role, 'float32', dims, new Float32Array(values).buffer);
  }

  /** @param output only its dimensions where it has the element type of the first input */
  apply(
    opType: string,
    inputs: readonly (Value | undefined)[],
    output: OutputType | readonly Dimension[],
    attributes: readonly AttributeProto[] = [],
    domain: '' | typeof RUNTIME_DOMAIN = '',
  ): Value {
    const name = `${opType}_${this.#nodes.length}`;
    const { elementType, dims } = 'dims' in output ? output : { ...(inputs[0] as Value), dims: output };
    return this.#add(
      opType,
      name,
      inputs,
      [{ elementType, dims, name: `${name}_output` }],
      attributes,
      domain,
    )[0] as Value;
  }

  applyMany(
    opType: string,
    inputs: readonly (Value | undefined)[],
    outputs: readonly OutputType[],
    attributes: readonly AttributeProto[] = [],
  ): Value[] {
    const name = `${opType}_${this.#nodes.length}`;
    const named = outputs.map((output, i) => ({ ...output, name: `${name}_output_${i}` }));
    return this.#add(opType, name, inputs, named, attributes, '');
  }

  output(name: string, value: Value): void {
    this.#outputs.set(value.name, name);
  }

  finish(source: string): Model {
    const final = (name: string): string => this.#outputs.get(name) ?? name;
    const usesRuntime = this.#nodes.some(({ domain }) => domain === RUNTIME_DOMAIN);
    return {
      source,
      irVersion: IR_VERSION,
      opsets: new Map([['', OPSET], ...(usesRuntime ? ([[RUNTIME_DOMAIN, 1]] as const) : [])]),
      graph: {
        name: this.name,
        nodes: this.#nodes.map((node) => ({
          ...node,
          inputs: node.inputs.map(final),
          outputs: node.outputs.map(final),
        })),
        inputs: [...this.#inputs],
        outputs: [...this.#outputs.values()],
        initializers: new Map(this.#initializers),
        types: new Map([...this.#types].map(([name, type]) => [final(name), type])),
      },
    };
  }

  #add(
    opType: string,
    name: string,
    inputs: readonly (Value | undefined)[],
    outputs: readonly (OutputType & { readonly name: string })[],
    attributes: readonly AttributeProto[],
    domain: string,
  ): Value[] {
    this.#nodes.push({
      name,
      opType,
      domain,
      inputs: inputs.map((value) => value?.name ?? ''),
      outputs: outputs.map((value) => value.name),
      attributes,
    });
    for (const { name, elementType, dims } of outputs) this.#types.set(name, { elementType, dims });
    return outputs.map(({ name, elementType, dims }) => ({ graph: this, name, elementType, dims }));
  }

  #nextSeed(): number {
    return (this.seed + this.#initializers.size) >>> 0;
  }

  #fillOf(weight: Value): Fill {
    const data = this.#initializers.get(weight.name)?.data;
    if (data?.kind === 'fill') return data.fill;
    throw new PlatformError('internal', `${this.name}: ${weight.name} is not a weight`);
  }

  #fill(role: string, dims: readonly number[], fill: Fill, elementType: ElementType = 'float32'): Value {
    return this.#initializer(role, { elementType, dims, data: { kind: 'fill', fill } });
  }

  #inline(role: string, elementType: ElementType, dims: readonly number[], buffer: ArrayBuffer): Value {
    return this.#initializer(role, { elementType, dims, data: { kind: 'inline', bytes: new Uint8Array(buffer) } });
  }

  #initializer(role: string, tensor: Tensor): Value {
    const name = `${role}_${this.#initializers.size}`;
    this.#initializers.set(name, tensor);
    return { graph: this, name, elementType: tensor.elementType, dims: tensor.dims };
  }
}

export type Network = (graph: GraphBuilder) => void;

/** A negative axis counts from the last one. */
export function dimension(value: Value, axis: number): Dimension {
  const dim = value.dims.at(axis);
  if (dim === undefined) throw misshapen(value, `no dimension ${axis}`);
  return dim;
}

/** Such as the channels of an image. */
export function fixed(value: Value, axis: number): number {
  const dim = dimension(value, axis);
  if (typeof dim === 'string') throw misshapen(value, `the symbol ${dim} where a number is needed`);
  return dim;
}

export function misshapen(value: Value, problem: string): PlatformError {
  const shape = value.dims.join(', ');
  return new PlatformError('internal', `zoo:${value.graph.name}: ${value.name} [${shape}] has ${problem}`);
}
