import { eventKey, type EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';

/** Bytes of results that are cached for readers that read them in parts: three of the largest, or many small ones. */
const MOST_CHARACTERS = 36 * 2 ** 20;

/** The result documents of evaluations, read from the store once for readers at about the same time. */
export class ResultCache {
  /** Those read last come last. */
  readonly #recent = new Map<string, string>();
  readonly #loading = new Map<string, Promise<string | undefined>>();

  constructor(private readonly documents: Collection<EventDocument>) {}

  /**
   * @param sequence of the event that the result came with. @returns undefined where the store does not have it any
   *   more
   */
  async get(evaluation: string, sequence: number): Promise<string | undefined> {
    const known = this.#recent.get(evaluation);
    if (known !== undefined) {
      this.#keep(evaluation, known);
      return known;
    }
    const loading = this.#loading.get(evaluation) ?? this.#load(evaluation, sequence);
    this.#loading.set(evaluation, loading);
    return await loading.finally(() => this.#loading.delete(evaluation));
  }

  async #load(evaluation: string, sequence: number): Promise<string | undefined> {
    const stored = await this.documents.get(eventKey(evaluation, sequence));
    const result = stored?.event.kind === 'done' ? stored.event.resultJson : undefined;
    if (result !== undefined) this.#keep(evaluation, result);
    return result;
  }

  #keep(evaluation: string, result: string): void {
    this.#recent.delete(evaluation);
    this.#recent.set(evaluation, result);
    let characters = [...this.#recent.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length }] of this.#recent) {
      if (characters <= MOST_CHARACTERS) return;
      this.#recent.delete(oldest);
      characters -= length;
    }
  }
}
