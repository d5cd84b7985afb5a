const MAX_DIMENSIONS = 32;
const MAX_SHAPES = 1024;

/** Longest text of shapes; MAX_SHAPES shapes of the largest known kernels take a tenth of it. */
const MAX_CHARACTERS = 2 ** 16;

/**
 * Shapes as producers of traces write them: `1x3x224x224;64x3x7x7`, `[1, 3, 224, 224]`, `(1, 3)`, `{1,64,56,56}`,
 * `[[1,3,224,224],[64,3,7,7]]`, `torch.Size([1, 3])`. A scalar is `[]`, or nothing. @returns undefined for other text
 */
export function parseShapes(text: string): number[][] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const bare = text.replaceAll(/torch\.Size\((\[[^[\]]*\])\)/g, '$1').trim();
  const plain = bare.replaceAll('(', '[').replaceAll(')', ']').replaceAll('{', '[').replaceAll('}', ']');
  const parts = plain.includes('[') ? bracketed(plain) : plain.split(';');
  if (parts === undefined || parts.length > MAX_SHAPES) return undefined;
  const shapes = parts.map((part) => parseDims(part));
  return shapes.every((shape) => shape !== undefined) ? shapes : undefined;
}

function bracketed(text: string): string[] | undefined {
  const inner = [...text.matchAll(/\[([^[\]]*)\]/g)].map(([, content = '']) => content);
  const rest = text.replaceAll(/\[[^[\]]*\]/g, '').replaceAll(/[\s,;]/g, '');
  return rest === '' || rest === '[]' ? inner : undefined;
}

function parseDims(text: string): number[] | undefined {
  const words = text.split(/[\s,x×*]+/).filter((word) => word !== '');
  if (words.length > MAX_DIMENSIONS || !words.every((word) => /^\d{1,15}$/.test(word))) return undefined;
  return words.map(Number);
}
