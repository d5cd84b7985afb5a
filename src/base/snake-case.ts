/** `memoryBytes` becomes `memory_bytes`. Names that begin with a capital letter, as of variables, stay as they are. */
export function snakeKey(key: string): string {
  return /^[A-Z]/.test(key) ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelKey(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Deeper objects in a foreign document stay as they are. */
const DEPTH = 16;

function withKeys(value: unknown, toKey: (key: string) => string, depth = DEPTH): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withKeys(item, toKey, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toKey(key), withKeys(item, toKey, depth - 1)]));
}

type SnakeLetters<Key> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeLetters<Rest>}`
  : Key;

type SnakeKey<Key> = Key extends string ? (Key extends Uncapitalize<Key> ? SnakeLetters<Key> : Key) : Key;

export type SnakeKeys<Value> = Value extends readonly (infer Item)[]
  ? SnakeKeys<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value as SnakeKey<Key>]: SnakeKeys<Value[Key]> }
    : Value;

export function withSnakeKeys<Value>(value: Value): SnakeKeys<Value> {
  return withKeys(value, snakeKey) as SnakeKeys<Value>;
}

export function withCamelKeys(value: unknown): unknown {
  return withKeys(value, camelKey);
}

export function snakePath(path: readonly PropertyKey[]): PropertyKey[] {
  return path.map((step) => (typeof step === 'string' ? snakeKey(step) : step));
}

/** A JSON Schema of the data after {@link withSnakeKeys}. */
export function snakeCaseSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(snakeCaseSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'required') return [keyword, (value as readonly string[]).map(snakeKey)];
    if (keyword !== 'properties') return [keyword, snakeCaseSchema(value)];
    const properties = Object.entries(value as object).map(([key, item]) => [snakeKey(key), snakeCaseSchema(item)]);
    return [keyword, Object.fromEntries(properties)];
  });
  return Object.fromEntries(entries);
}
