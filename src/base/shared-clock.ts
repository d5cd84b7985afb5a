/**
 * A clock that divides wall time equally among the tasks that run now. The times of several tasks by this clock add up
 * to the wall time of all. Milliseconds.
 */
export class SharedClock {
  #running = 0;
  #ms = 0;
  #untilMs = 0;

  get ms(): number {
    const nowMs = performance.now();
    this.#ms += (nowMs - this.#untilMs) / Math.max(1, this.#running);
    this.#untilMs = nowMs;
    return this.#ms;
  }

  begin(): void {
    this.#change(1);
  }

  end(): void {
    this.#change(-1);
  }

  #change(by: 1 | -1): void {
    // Brings the clock up to now, with the tasks that ran until now.
    void this.ms;
    this.#running += by;
  }
}
