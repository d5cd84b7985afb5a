/** Most samples that are kept of one series; more hardly change its statistics. */
const MOST_KEPT = 4096;

/**
 * Durations of one thing. Of very many, an evenly spread part is kept: whenever there are too many, every other one is
 * dropped and from then on only every second, fourth, eighth is taken, so that the same file gives the same samples.
 */
export class Samples {
  private kept: number[] = [];
  private stride = 1;
  private seen = 0;

  add(ms: number): void {
    if (this.seen++ % this.stride !== 0) return;
    this.kept.push(ms);
    if (this.kept.length < MOST_KEPT) return;
    this.kept = this.kept.filter((_value, index) => index % 2 === 0);
    this.stride *= 2;
  }

  /** In the order of the file. */
  get values(): readonly number[] {
    return this.kept;
  }

  /** How many there were in all. */
  get count(): number {
    return this.seen;
  }
}
