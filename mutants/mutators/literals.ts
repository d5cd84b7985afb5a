import ts from 'typescript';
import { type Change, type Mutator, replaced } from './change.js';
import { isForReaders } from './for-readers.js';

/** From here on, one more or less is the same limit, size or rate to any user. */
const LARGE = 100;

/** The name of the constant or property that a number is part of, as in `const DAY_MS = 24 * 3_600_000`. */
function nameOfValue(node: ts.Node): string {
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return ts.isBinaryExpression(parent) || ts.isParenthesizedExpression(parent) ? nameOfValue(parent) : '';
}

/** Times are left alone: no test may assert how long something takes. */
function isTime(node: ts.Node): boolean {
  return /(_ms|Ms)\W*$|_MS$/.test(nameOfValue(node));
}

/**
 * Replaces an integer by each of its neighbours, which shows whether a test covers the bound. Doubles a large number or
 * a fraction.
 */
export const numbers: Mutator = (node) => {
  if (!ts.isNumericLiteral(node) || isTime(node)) return [];
  const value = Number(node.text);
  if (!Number.isInteger(value) || value >= LARGE) return [replaced(node, String(value * 2))];
  return value === 0 ? [replaced(node, '1')] : [replaced(node, String(value + 1)), replaced(node, String(value - 1))];
};

export const booleans: Mutator = (node) => {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replaced(node, 'false')];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replaced(node, 'true')];
  return [];
};

/** Names of properties and elements of lists are removed as a whole: see removals.ts. */
export const texts: Mutator = (node) => {
  if (!ts.isStringLiteral(node) || isForReaders(node)) return [];
  const { parent } = node;
  const isName = ts.isPropertyAssignment(parent) && parent.name === node;
  return isName || ts.isArrayLiteralExpression(parent) ? [] : [replaced(node, "''")];
};

/** Empties one part of a key that is built from parts. */
export const templates: Mutator = (node) => {
  if (!ts.isTemplateExpression(node) || isForReaders(node)) return [];
  return node.templateSpans.map(({ expression }) => replaced(expression, "''"));
};

/** Removes a flag or an anchor of a pattern, or allows one more repetition. */
export const patterns: Mutator = (node) => {
  if (!ts.isRegularExpressionLiteral(node)) return [];
  const { text } = node;
  const end = text.lastIndexOf('/');
  const flags = text.slice(end + 1);
  const pattern = text.slice(1, end);
  const changed: string[] = [...flags].map((flag) => `/${pattern}/${flags.replace(flag, '')}`);
  if (pattern.startsWith('^')) changed.push(`/${pattern.slice(1)}/${flags}`);
  if (/[^\\]\$$/.test(pattern)) changed.push(`/${pattern.slice(0, -1)}/${flags}`);
  for (const match of pattern.matchAll(/\{(\d+,)?(\d+)\}/g)) {
    const [whole, from = '', to = '0'] = match;
    const more = `{${from}${Number(to) + 1}}`;
    changed.push(`/${pattern.slice(0, match.index)}${more}${pattern.slice(match.index + whole.length)}/${flags}`);
  }
  return changed.map((replacement): Change => replaced(node, replacement));
};
