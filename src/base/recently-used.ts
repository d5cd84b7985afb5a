export class RecentlyUsed<Value> {
  /** In the order of their last uses. */
  readonly #values = new Map<string, { readonly value: Value; readonly size: number }>();
  #size = 0;

  constructor(private readonly mostSize: number) {}

  values(): readonly Value[] {
    return [...this.#values.values()].map(({ value }) => value);
  }

  get(key: string): Value | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  keep(key: string, value: Value, size: number): void {
    this.delete(key);
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.mostSize) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#values.get(key)?.size ?? 0;
    this.#values.delete(key);
  }
}
