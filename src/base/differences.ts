/** Gives a function that says, for one of these items, the facts in which they differ; '' where they differ in none. */
export function differences<Item>(
  items: readonly Item[],
  facts: readonly ((item: Item) => string)[],
): (item: Item) => string {
  const differing = facts.filter((fact) => new Set(items.map(fact)).size > 1);
  return (item) => differing.map((fact) => fact(item)).join(', ');
}
