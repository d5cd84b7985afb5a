/** Progress and remaining time of several pieces of work. Only rough sizes of the pieces are known in advance. */
export class TimeLeft {
  private readonly total: number;
  private done = 0;
  private startMs: number | undefined;
  private elapsedMs = 0;

  /** @param sizes of the pieces, in any unit */
  constructor(private readonly sizes: readonly number[]) {
    this.total = sizes.reduce((sum, size) => sum + size, 0);
  }

  /** @param share of the piece that is done, 0 to 1 @param nowMs any clock's milliseconds */
  update(piece: number, share: number, nowMs: number): void {
    this.startMs ??= nowMs;
    this.elapsedMs = nowMs - this.startMs;
    const before = this.sizes.slice(0, piece).reduce((sum, size) => sum + size, 0);
    // The progress never falls, even where a piece reports a smaller share in a further round.
    this.done = Math.max(this.done, before + (this.sizes[piece] ?? 0) * Math.min(1, share));
  }

  /** Share of everything that is done, 0 to 1. */
  get share(): number {
    return this.total === 0 ? 1 : this.done / this.total;
  }

  /** "about 3 min left"; empty while less than 1 % is done. */
  get text(): string {
    if (this.share < 0.01) return '';
    const leftS = ((this.elapsedMs / this.share) * (1 - this.share)) / 1000;
    return leftS >= 90 ? `about ${Math.round(leftS / 60)} min left` : `about ${Math.max(1, Math.round(leftS))} s left`;
  }
}
