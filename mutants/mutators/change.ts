import type ts from 'typescript';

/** A small defect: another text replaces the text from `start` to `end`. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The changes of one kind that can be made at one node of a program. */
export type Mutator = (node: ts.Node) => readonly Change[];

export function replaced(node: ts.Node, replacement: string): Change {
  return { start: node.getStart(), end: node.getEnd(), replacement };
}
