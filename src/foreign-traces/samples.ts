/** Most samples that are kept of one series; more hardly change its statistics. */
const MAX_KEPT = 4096;

/** Of very many samples, an evenly spaced subset is kept. Nothing is random: the same file gives the same samples. */
export class Samples {
  values: number[] = [];
  /** Of all samples that were added. */
  count = 0;
  private stride = 1;

  add(ms: number): void {
    if (this.count++ % this.stride !== 0) return;
    this.values.push(ms);
    if (this.values.length < MAX_KEPT) return;
    this.values = this.values.filter((_value, index) => index % 2 === 0);
    this.stride *= 2;
  }
}
