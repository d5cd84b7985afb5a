/** Sets of the numbers from 0 that are joined step by step (union-find). */
export class DisjointSets {
  readonly #parents: number[];

  constructor(size: number) {
    this.#parents = Array.from({ length: size }, (_, index) => index);
  }

  /** The same number for all members of a set. */
  find(member: number): number {
    let root = member;
    while (this.#parents[root] !== root) root = this.#parents[root] ?? root;
    for (let at = member; at !== root;) {
      const next = this.#parents[at] ?? root;
      this.#parents[at] = root;
      at = next;
    }
    return root;
  }

  join(one: number, other: number): void {
    this.#parents[this.find(one)] = this.find(other);
  }
}
