import { eventKey, type EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';

/** The most characters of cached results, for readers that read in parts: three of the largest, or many small ones. */
const MOST_CHARACTERS = 36 * 2 ** 20;

/** The results of evaluations. Readers at about the same time share one read of the store. */
export class ResultCache {
  /** In the order of their last reads. */
  readonly #recent = new Map<string, string>();
  readonly #loading = new Map<string, Promise<string | undefined>>();

  constructor(private readonly documents: Collection<EventDocument>) {}

  /**
   * @param sequence the number of the event that the result belongs to
   * @returns undefined if the store no longer has the result
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
