import ts from 'typescript';

/** Whether a text, with a space in it or empty, is for readers; without one it is a key, a code, or the name of an option. */
export function isForReaders(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return node.text === '' || /\s/.test(node.text);
  if (!ts.isTemplateExpression(node)) return false;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].some(({ text }) => /\s/.test(text));
}
