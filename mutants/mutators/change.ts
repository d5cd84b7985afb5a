import type ts from 'typescript';

/** A small defect: the text from `start` to `end` gives way to another one. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The changes that can be made at one node of a program, for one reason. */
export type Mutator = (node: ts.Node) => readonly Change[];

export function replaced(node: ts.Node, replacement: string): Change {
  return { start: node.getStart(), end: node.getEnd(), replacement };
}
