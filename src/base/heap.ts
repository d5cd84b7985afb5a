/** A binary heap: it gives its items in order, the first one by `isBefore` at each call of `take`. */
export class Heap<Item> {
  readonly #items: Item[] = [];

  constructor(private readonly isBefore: (one: Item, other: Item) => boolean) {}

  add(item: Item): void {
    const items = this.#items;
    let index = items.push(item) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = items[above] as Item;
      if (this.isBefore(parent, item)) break;
      items[index] = parent;
      index = above;
    }
    items[index] = item;
  }

  /** @returns undefined where it is empty */
  take(): Item | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.isBefore(items[child + 1] as Item, items[child] as Item)) child++;
      const least = items[child] as Item;
      if (!this.isBefore(least, last)) break;
      items[index] = least;
      index = child;
    }
    items[index] = last;
    return first;
  }
}
