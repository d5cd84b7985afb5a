/** The items with different contents, each once, in their order. */
export function distinctByContent<Item>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
