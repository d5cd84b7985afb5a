import { setImmediate } from 'node:timers/promises';

/**
 * Gives each that asks a turn of the event loop of its own, first come, first served. What takes some tens of milliseconds
 * for one client takes seconds for a hundred that ask at once; between two turns, everybody else is heard.
 */
export class LoopTurns {
  #last: Promise<void> = Promise.resolve();

  take(): Promise<void> {
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
