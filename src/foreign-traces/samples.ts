/** Most samples that are kept of one series; more hardly change its statistics. */
const MAX_KEPT = 4096;

/** Of very many samples, an evenly spaced subset is kept. Nothing is random: the same file gives the same samples. */
export class Samples {
  private kept: number[] = [];
  private stride = 1;
  private seen = 0;

  add(ms: number): void {
    if (this.seen++ % this.stride !== 0) return;
    this.kept.push(ms);
    if (this.kept.length < MAX_KEPT) return;
    this.kept = this.kept.filter((_value, index) => index % 2 === 0);
    this.stride *= 2;
  }

  get values(): readonly number[] {
    return this.kept;
  }

  get count(): number {
    return this.seen;
  }
}
