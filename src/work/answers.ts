import { z } from 'zod';
import { type Measurement, measurementSchema } from '../measurement/measurement.js';
import type { Collection, CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';

const answerSchema = z.strictObject({
  item: z.string(),
  /** Index of the request in the item. */
  request: z.string().regex(/^\d+$/),
  /** Name of the lease of the waiting caller. */
  wanted_by: z.string(),
  measurement: measurementSchema,
  is_stored: z.literal(true).optional(),
});

type Answer = Readonly<z.infer<typeof answerSchema>>;

const ANSWERS: CollectionDefinition<Answer> = {
  name: 'work_answers',
  schema: answerSchema,
  key: ['item', 'request'],
  indexes: [['wanted_by']],
  isMomentary: true,
};

export interface PlacedAnswer {
  readonly item: string;
  readonly request: number;
  readonly wantedBy: string;
  readonly measurement: Measurement;
  /** Whether the measurement is in the store as well. */
  readonly isStored: boolean;
}

/**
 * Measurements on their way to waiting callers, in the store that agents and callers share. The caller decides which of
 * two measurements is kept. Methods throw as the store does.
 */
export class Answers {
  readonly #answers: Collection<Answer>;

  constructor(store: Pick<ResultStore, 'collection'>) {
    this.#answers = store.collection(ANSWERS);
  }

  put({ item, request, wantedBy, measurement, isStored }: PlacedAnswer): Promise<void> {
    const answer = { item, request: String(request), wanted_by: wantedBy, measurement };
    return this.#answers.put(isStored ? { ...answer, is_stored: true } : answer);
  }

  async answered(item: string): Promise<ReadonlySet<number>> {
    const indices = new Set<number>();
    for await (const { request } of this.#answers.find({ item })) indices.add(Number(request));
    return indices;
  }

  async for(wantedBy: string): Promise<readonly PlacedAnswer[]> {
    const found: PlacedAnswer[] = [];
    for await (const { item, request, measurement, is_stored: stored } of this.#answers.find({ wanted_by: wantedBy })) {
      found.push({ item, request: Number(request), wantedBy, measurement, isStored: stored === true });
    }
    return found;
  }

  async forget(item: string): Promise<void> {
    await this.#answers.delete({ item });
  }

  async forgetOrphans(waits: (wantedBy: string) => Promise<boolean>): Promise<void> {
    const names = new Set<string>();
    for await (const { wanted_by: wantedBy } of this.#answers.find({})) names.add(wantedBy);
    for (const name of names) if (!(await waits(name))) await this.#answers.delete({ wanted_by: name });
  }
}
