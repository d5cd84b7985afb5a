/** What undoes, at its end, what was made for it: a test, or a round of `make torture`. */
export interface Lifetime {
  after(undo: () => unknown): void;
}
