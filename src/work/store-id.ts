import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ResultStore } from '../store/result-store.js';

/** Begins the reason why an agent gives up work whose caller would never see the measurements. */
export const OTHER_STORE = 'this agent of the queue has another store than the caller';

/** The id that tells this store from others; made when it is first asked for. */
export async function storeId(store: Pick<ResultStore, 'collection'>): Promise<string> {
  const ids = store.collection({
    name: 'work_store',
    schema: z.strictObject({ key: z.literal('id'), id: z.string() }),
    key: ['key'],
    indexes: [],
    isMomentary: true,
  });
  for (;;) {
    const known = await ids.get({ key: 'id' });
    if (known !== undefined) return known.id;
    const id = randomUUID();
    if (await ids.insert({ key: 'id', id })) return id;
  }
}
