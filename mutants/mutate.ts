import ts from 'typescript';
import { calls } from './mutators/calls.js';
import type { Change, Mutator } from './mutators/change.js';
import { conditions } from './mutators/conditions.js';
import { booleans, numbers, patterns, templates, texts } from './mutators/literals.js';
import { binaryOperators, unaryOperators } from './mutators/operators.js';
import { parts, statements } from './mutators/removals.js';

const MUTATORS: readonly Mutator[] = [
  binaryOperators,
  unaryOperators,
  conditions,
  numbers,
  booleans,
  texts,
  templates,
  patterns,
  calls,
  statements,
  parts,
];

/**
 * Whether a default, as in `list[i] ?? 0`, is only there because the compiler does not know that the element exists.
 */
function isNeverNeeded(node: ts.Node): node is ts.BinaryExpression {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken) return false;
  const { left, right } = node;
  const isElement = ts.isElementAccessExpression(left) || /\.at\(-?\d+\)$/.test(left.getText());
  return (
    isElement &&
    (/^(-1|Infinity|NaN)$/.test(right.getText()) || ts.isLiteralExpression(right) || ts.isArrayLiteralExpression(right))
  );
}

/** All small defects that can be put into a JavaScript module, in the order of their places. */
export function changesIn(text: string): readonly Change[] {
  const source = ts.createSourceFile('module.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const changes: Change[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (isNeverNeeded(node)) return visit(node.left);
    for (const mutator of MUTATORS) changes.push(...mutator(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return changes.sort((a, b) => a.start - b.start);
}

/** The module with the defect. */
export function applied(text: string, { start, end, replacement }: Change): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
