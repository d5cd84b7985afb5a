import ts from 'typescript';

/**
 * Whether a text is for readers: it has a space in it or is empty. Any other text is a key, a code, or an option name.
 */
export function isForReaders(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return node.text === '' || /\s/.test(node.text);
  if (!ts.isTemplateExpression(node)) return false;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].some(({ text }) => /\s/.test(text));
}
