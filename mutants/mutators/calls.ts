import ts from 'typescript';
import { type Mutator, replaced } from './change.js';

/** Methods whose call can be removed from a chain: they check, sort, select or normalize. */
const LEFT_OUT = new Set([
  ...['sort', 'toSorted', 'reverse', 'toReversed', 'filter', 'slice', 'trim', 'trimEnd', 'toLowerCase', 'toUpperCase'],
  // Methods of schemas
  ...['min', 'max', 'positive', 'nonnegative', 'regex', 'refine', 'superRefine', 'optional', 'default', 'prefault'],
]);

const NEIGHBOURS = new Map(
  Object.entries({
    every: 'some',
    some: 'every',
    floor: 'ceil',
    ceil: 'floor',
    round: 'floor',
    min: 'max',
    max: 'min',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    indexOf: 'lastIndexOf',
    lastIndexOf: 'indexOf',
    push: 'unshift',
    shift: 'pop',
    pop: 'shift',
  }),
);

/** Removes a call from its chain, or calls another method. */
export const calls: Mutator = (node) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression: object, name } = node.expression;
  const isMath = object.getText() === 'Math';
  if (LEFT_OUT.has(name.text) && !isMath) return [replaced(node, object.getText())];
  const neighbour = NEIGHBOURS.get(name.text);
  return neighbour === undefined ? [] : [replaced(name, neighbour)];
};
