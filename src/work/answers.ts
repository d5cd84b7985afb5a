import { z } from 'zod';
import { measurementSchema } from '../measurement/measurement.js';
import type { Collection } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';

const answerSchema = z.strictObject({
  item: z.string(),
  /** Index of the request in the item. */
  request: z.string().regex(/^\d+$/),
  /** Name of the lease of the waiting caller. */
  wanted_by: z.string(),
  measurement: measurementSchema,
  /** The measurement is in the store as well. */
  is_stored: z.literal(true).optional(),
});

export type Answers = Collection<Readonly<z.infer<typeof answerSchema>>>;

/**
 * Measurements on their way to waiting callers, in the store that agents and callers share. The caller decides which of
 * two measurements is kept.
 */
export function answersIn(store: Pick<ResultStore, 'collection'>): Answers {
  return store.collection({
    name: 'work_answers',
    schema: answerSchema,
    key: ['item', 'request'],
    indexes: [['wanted_by']],
    isMomentary: true,
  });
}

export async function forgetOrphans(answers: Answers, waits: (wantedBy: string) => Promise<boolean>): Promise<void> {
  const names = new Set<string>();
  for await (const { wanted_by: wantedBy } of answers.find({})) names.add(wantedBy);
  for (const name of names) if (!(await waits(name))) await answers.delete({ wanted_by: name });
}
