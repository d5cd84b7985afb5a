import ts from 'typescript';
import { isForReaders } from './for-readers.js';
import { type Mutator, replaced } from './change.js';

/** Removes a statement that does something. */
export const statements: Mutator = (node) => {
  const isDone =
    ts.isExpressionStatement(node) ||
    ts.isThrowStatement(node) ||
    ts.isBreakStatement(node) ||
    ts.isContinueStatement(node) ||
    (ts.isReturnStatement(node) && node.expression === undefined);
  return isDone ? [replaced(node, ';')] : [];
};

/** Removes one part of a list or an object. */
export const parts: Mutator = (node) => {
  if (!ts.isArrayLiteralExpression(node) && !ts.isObjectLiteralExpression(node)) return [];
  const all: readonly ts.Node[] = ts.isArrayLiteralExpression(node) ? node.elements : node.properties;
  return all.flatMap((part) => {
    if (ts.isMethodDeclaration(part) || isForReaders(ts.isPropertyAssignment(part) ? part.initializer : part))
      return [];
    const comma = /^\s*,/.exec(node.getSourceFile().text.slice(part.getEnd()))?.[0].length ?? 0;
    return [{ start: part.getStart(), end: part.getEnd() + comma, replacement: '' }];
  });
};
