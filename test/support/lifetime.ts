/** A test, or a round of `make torture`. At its end, it undoes everything that was made for it. */
export interface Lifetime {
  after(undo: () => unknown): void;
}
