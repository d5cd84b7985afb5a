/** A dimension that is computed from others: `past + 1`, `8*hh`, `(h + 1)//2`. */
export interface DimensionExpression {
  readonly names: readonly string[];
  /** Its size; undefined where a dimension in it has no size, and where the result is not a whole number from 0 up. */
  size(sizes: ReadonlyMap<string, number>): number | undefined;
}

/** A minus that is part of a name has no spaces around it. */
const TOKEN = /\s*(?:(?<name>[A-Za-z_][\w.]*)|(?<number>\d{1,9})|(?<operator>\+|(?<=\s)-(?=\s)|\*|\/\/|[()]))/y;

type Sizes = ReadonlyMap<string, number>;
type Term = (sizes: Sizes) => number;

function tokenize(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    tokens.push(match[0].trim());
  }
  return tokens;
}

const OPERATORS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['//', (a, b) => Math.floor(a / b)],
]);

const MAX_DEPTH = 32;

class Parser {
  readonly names = new Set<string>();
  #at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  whole(): Term | undefined {
    const term = this.#sum(0);
    return this.#at === this.tokens.length ? term : undefined;
  }

  #sum(depth: number): Term | undefined {
    return this.#chain(['+', '-'], () => this.#chain(['*', '//'], () => this.#atom(depth)));
  }

  #chain(operators: readonly string[], operand: () => Term | undefined): Term | undefined {
    let left = operand();
    for (;;) {
      const token = this.tokens[this.#at] ?? '';
      const apply = operators.includes(token) ? OPERATORS.get(token) : undefined;
      if (left === undefined || apply === undefined) return left;
      this.#at++;
      const before = left;
      const right = operand();
      left = right === undefined ? undefined : (sizes) => apply(before(sizes), right(sizes));
    }
  }

  #atom(depth: number): Term | undefined {
    const token = this.tokens[this.#at++];
    if (token === undefined || depth > MAX_DEPTH) return undefined;
    if (token === '(') {
      const inner = this.#sum(depth + 1);
      return this.tokens[this.#at++] === ')' ? inner : undefined;
    }
    if (/^\d/.test(token)) return () => Number(token);
    if (!/^[A-Za-z_]/.test(token)) return undefined;
    this.names.add(token);
    return (sizes) => sizes.get(token) ?? NaN;
  }
}

/** Reads the name of a dimension as an expression of other dimensions; undefined where it is a plain name. */
export function dimensionExpression(symbol: string): DimensionExpression | undefined {
  const tokens = tokenize(symbol);
  if (tokens === undefined || tokens.length === 1) return undefined;
  const parser = new Parser(tokens);
  const term = parser.whole();
  if (term === undefined || parser.names.size === 0) return undefined;
  return {
    names: [...parser.names],
    size(sizes) {
      const size = term(sizes);
      return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
    },
  };
}
