import { fillBlocks } from '../../../../src/onnx/values/fill.js';
import { elementCount, type ElementType } from '../../../../src/onnx/model/element-type.js';
import type { InferredValue } from '../../../../src/onnx/layers/layer-graph.js';
import type { DeclaredType, Model, Node, Tensor } from '../../../../src/onnx/model/model.js';
import { capturedNames } from '../../../../src/onnx/model/subgraphs.js';

type Attributes = Node['attributes'];

/** An output of a layer or constant: its type, and its content where that follows from shapes alone. */
interface Made {
  readonly elementType: ElementType;
  readonly dims: readonly number[];
  readonly content?: readonly number[];
}

export function int64Bytes(values: readonly number[]): Uint8Array {
  return new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
}

export function float32Bytes(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/** A constant of these values; without `dims` a list. */
export function floatTensor(values: readonly number[], dims: readonly number[] = [values.length]): Tensor {
  return { elementType: 'float32', dims, data: { kind: 'inline', bytes: float32Bytes(values) } };
}

/** A constant of these values; without `dims` a list. */
export function int64Tensor(values: readonly number[], dims: readonly number[] = [values.length]): Tensor {
  return { elementType: 'int64', dims, data: { kind: 'inline', bytes: int64Bytes(values) } };
}

/** A tensor of made-up numbers; the same seed gives the same. */
export function seededTensor(dims: readonly number[], range: { low: number; high: number }, seed: number): Tensor {
  const blocks = [...fillBlocks('float32', elementCount(dims), { ...range, seed })].map((block) => block.slice());
  return { elementType: 'float32', dims, data: { kind: 'inline', bytes: Buffer.concat(blocks) } };
}

/** Builds a model whose types are all known. Every name begins with `hidden`, so that a test can look for it. */
export class GraphBuilder {
  readonly nodes: Node[] = [];
  readonly inputs: string[] = [];
  readonly types = new Map<string, DeclaredType & { readonly dims: readonly number[] }>();
  readonly initializers = new Map<string, Tensor>();
  /** A runtime's answers about values that follow from shapes, and about integers that follow from constants. */
  readonly inferred = new Map<string, InferredValue>();
  #names = 0;

  freshName(kind: string): string {
    return `hidden.${kind}.${this.#names++}`;
  }

  dimsOf(name: string): readonly number[] {
    return this.types.get(name)?.dims ?? this.initializers.get(name)?.dims ?? [];
  }

  input(elementType: ElementType, dims: readonly number[]): string {
    const name = this.freshName('input');
    this.inputs.push(name);
    this.types.set(name, { elementType, dims });
    return name;
  }

  constant(tensor: Tensor): string {
    const name = this.freshName('constant');
    this.initializers.set(name, tensor);
    return name;
  }

  /** Made-up values in a range that keeps the order of magnitude of activations. */
  weight(dims: readonly number[], summed: number): string {
    const high = Math.sqrt(6 / summed);
    return this.constant(seededTensor(dims, { low: -high, high }, this.#names));
  }

  /** Values that a variance may have. */
  positive(dims: readonly number[]): string {
    return this.constant(seededTensor(dims, { low: 0.5, high: 1.5 }, this.#names));
  }

  /** @returns the names of the outputs */
  layers(
    opType: string,
    inputs: readonly string[],
    made: readonly Made[],
    attributes: Attributes = [],
    domain = '',
  ): string[] {
    const outputs = made.map(({ elementType, dims, content }) => {
      const name = this.freshName('value');
      this.types.set(name, { elementType, dims });
      const encode = elementType === 'float32' ? float32Bytes : int64Bytes;
      if (content !== undefined) this.inferred.set(name, { elementType, dims, content: encode(content) });
      return name;
    });
    this.nodes.push({ name: this.freshName('node'), opType, domain, inputs, outputs, attributes });
    return outputs;
  }

  /** A layer with one float output. */
  layer(opType: string, inputs: readonly string[], dims: readonly number[], attributes: Attributes = []): string {
    return this.layers(opType, inputs, [{ elementType: 'float32', dims }], attributes)[0] ?? '';
  }

  /** A layer, or a constant computation, with one list of integers as its output. */
  integers(
    opType: string,
    inputs: readonly string[],
    content: readonly number[],
    { dims = [content.length], attributes = [] }: { dims?: readonly number[]; attributes?: Attributes } = {},
  ): string {
    return this.layers(opType, inputs, [{ elementType: 'int64', dims, content }], attributes)[0] ?? '';
  }

  /** The first output of each layer, without those that a layer reads. */
  ends(): readonly string[] {
    const read = new Set(this.nodes.flatMap((node) => [...node.inputs, ...capturedNames(node)]));
    return this.nodes.flatMap(({ outputs }) => outputs.slice(0, 1)).filter((name) => !read.has(name));
  }

  model(outputs: readonly string[]): Model {
    const { nodes, inputs, initializers, types } = this;
    return {
      source: 'hidden.file.onnx',
      irVersion: 8,
      opsets: new Map([['', 17]]),
      graph: { name: 'hidden.graph', nodes, inputs, outputs, initializers, types },
    };
  }
}
