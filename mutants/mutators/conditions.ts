import ts from 'typescript';
import { type Mutator, replaced } from './change.js';

/** Makes branches that are always or never taken, and loops that never run. */
export const conditions: Mutator = (node) => {
  if (ts.isIfStatement(node)) return [replaced(node.expression, 'true'), replaced(node.expression, 'false')];
  if (ts.isConditionalExpression(node)) return [replaced(node.condition, 'true'), replaced(node.condition, 'false')];
  if (ts.isWhileStatement(node)) return [replaced(node.expression, 'false')];
  if (ts.isForStatement(node) && node.condition !== undefined) return [replaced(node.condition, 'false')];
  return [];
};
