/** Deeper nesting than any trace has. */
export const MOST_DEPTH = 64;

function isDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') {
      if (++depth > MOST_DEPTH) return true;
    } else if (character === ']' || character === '}') depth--;
  }
  return false;
}

/**
 * Parses a JSON text of a foreign file. Its nesting is limited, so that recursion over the value is safe.
 *
 * @throws SyntaxError for a text that is no JSON, or nested deeper than any trace
 */
export function parseJson(text: string): unknown {
  if (isDeep(text)) throw new SyntaxError(`nested deeper than ${MOST_DEPTH} levels, as no trace is`);
  return JSON.parse(text) as unknown;
}
