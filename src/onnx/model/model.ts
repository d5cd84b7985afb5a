import type { AttributeProto } from '../../generated/onnx/onnx.js';
import type { ElementType } from './element-type.js';

export interface TensorType {
  readonly elementType: ElementType;
  readonly dims: readonly number[];
}

/** A dimension as a file states it: a size, or the name of a symbol ('' where the file gives none). */
export type Dimension = number | string;

export interface DeclaredType {
  readonly elementType: ElementType;
  readonly dims: readonly Dimension[] | undefined;
}

/** Most values of a list: the boxes and scores of the largest detectors. */
export const MAX_LISTED_VALUES = 2 ** 20;

/** The values of an input: bounds, both included, or a list that is repeated until there are enough. */
export interface InputValues {
  readonly low: number;
  readonly high: number;
  /** All between `low` and `high`. */
  readonly list?: readonly number[] | undefined;
}

/** How made-up values are generated: uniformly from [low, high], from a seed, never near zero (see fill.ts). */
export interface Fill extends InputValues {
  readonly seed: number;
}

/** The place of a tensor's values. Only `inline` ones are in memory, as little-endian raw_data. */
export type TensorData =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'strings'; readonly values: readonly Uint8Array[] }
  | { readonly kind: 'file'; readonly path: string; readonly offset: number; readonly byteLength: number }
  | {
      readonly kind: 'fill';
      readonly fill: Fill;
      /** The file beside the model that should have the values, '' for the model's own; undefined where none should. */
      readonly missingFrom?: string;
    };

export interface Tensor extends TensorType {
  readonly data: TensorData;
}

/** One operator call. An absent optional input or output is the empty string. */
export interface Node {
  readonly name: string;
  readonly opType: string;
  /** '' is the standard domain ai.onnx. */
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** As in the file; tensors inside attributes are loaded. */
  readonly attributes: readonly AttributeProto[];
  /** Written for viewers of the file; never read. */
  readonly metadata?: ReadonlyMap<string, string> | undefined;
}

/** A graph whose nodes are in topological order and whose `Constant` nodes have become initializers. */
export interface Graph {
  readonly name: string;
  readonly nodes: readonly Node[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly initializers: ReadonlyMap<string, Tensor>;
  readonly types: ReadonlyMap<string, DeclaredType>;
  readonly given?: ReadonlyMap<string, InputValues> | undefined;
}

export interface Model {
  readonly source: string;
  readonly irVersion: number;
  readonly opsets: ReadonlyMap<string, number>;
  readonly graph: Graph;
}
