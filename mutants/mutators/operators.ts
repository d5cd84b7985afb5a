import ts from 'typescript';
import { type Mutator, replaced } from './change.js';

/**
 * A similar operator for each operator: bounds move by one, equality and logic change to the opposite, arithmetic is
 * inverted.
 */
const NEIGHBOURS = new Map(
  Object.entries({
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '===': '!==',
    '!==': '===',
    '&&': '||',
    '||': '&&',
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
    '**': '*',
    '>>>': '<<',
    '<<': '>>>',
    '&': '|',
    '|': '&',
    '+=': '-=',
    '-=': '+=',
    '*=': '/=',
    '??=': '=',
  }),
);

function isText(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Another operator; for `a ?? b`, `a` alone. */
export const binaryOperators: Mutator = (node) => {
  if (!ts.isBinaryExpression(node)) return [];
  const { left, operatorToken, right } = node;
  if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [replaced(node, left.getText())];
  const neighbour = NEIGHBOURS.get(operatorToken.getText());
  // The operator + joins texts, too.
  if (neighbour === undefined || isText(left) || isText(right)) return [];
  return [replaced(node, `${left.getText()} ${neighbour} ${right.getText()}`)];
};

export const unaryOperators: Mutator = (node) => {
  if (!ts.isPrefixUnaryExpression(node) && !ts.isPostfixUnaryExpression(node)) return [];
  const { operand, operator } = node;
  const text = operand.getText();
  switch (operator) {
    case ts.SyntaxKind.ExclamationToken:
    case ts.SyntaxKind.MinusToken:
      return [replaced(node, text)];
    case ts.SyntaxKind.PlusPlusToken:
      return [replaced(node, ts.isPrefixUnaryExpression(node) ? `--${text}` : `${text}--`)];
    case ts.SyntaxKind.MinusMinusToken:
      return [replaced(node, ts.isPrefixUnaryExpression(node) ? `++${text}` : `${text}++`)];
    default:
      return [];
  }
};
