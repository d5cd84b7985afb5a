export type Entry = Readonly<Record<string, unknown>>;

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds values in a list of {key, value}. */
export function valuesIn(list: unknown, read: (value: unknown) => unknown = (value) => value) {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  return (key: string): unknown => {
    for (const entry of entries) if (isEntry(entry) && entry['key'] === key) return read(entry['value']);
    return undefined;
  };
}
