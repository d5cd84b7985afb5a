import type { Node } from '../../model/model.js';

/** Most values of a list that is made up. */
export const MAX_FITTING_VALUES = 65_536;

/** An input of an operator whose values are made up, and the known facts about the values around it. */
export interface OperatorUse {
  readonly node: Node;
  readonly count: number;
  readonly own: readonly number[];
  /** Dimensions of one of the operator's inputs; undefined where it has none or they are not known. */
  readonly input: (index: number) => readonly number[] | undefined;
  /** Dimensions of one of its outputs, likewise. */
  readonly output: (index: number) => readonly number[] | undefined;
  /** Values of one of its inputs that is a small constant of integers. */
  readonly constant: (index: number) => readonly number[] | undefined;
}

export type Fitting =
  | { readonly kind: 'list'; readonly values: readonly number[] }
  | { readonly kind: 'range'; readonly low: number; readonly high: number };

export type FittingRule = (use: OperatorUse) => Fitting | undefined;

export type FittingRules = Readonly<Record<number, FittingRule>>;

export function list(values: readonly number[] | undefined): Fitting | undefined {
  return values === undefined ? undefined : { kind: 'list', values };
}

export function indicesBelow(size: number | undefined): Fitting | undefined {
  return size === undefined ? undefined : { kind: 'range', low: 0, high: Math.max(0, size - 1) };
}

/** The length of a list, limited because the shapes in a file may ask for any length. A shorter list is repeated. */
function limitLength(count: number): number {
  return Math.min(count, MAX_FITTING_VALUES);
}

export function upTo(count: number): readonly number[] {
  return Array.from({ length: limitLength(count) }, (_, index) => index);
}

export function repeated(count: number, value: number): readonly number[] {
  return Array.from({ length: limitLength(count) }, () => value);
}

export function integerAttribute({ attributes }: Node, name: string, absent: number): number {
  const found = attributes.find((attribute) => attribute.name === name);
  return found === undefined ? absent : Number(found.i);
}

export function integersAttribute({ attributes }: Node, name: string): readonly number[] | undefined {
  return attributes.find((attribute) => attribute.name === name)?.ints.map(Number);
}
