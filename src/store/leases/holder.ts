import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { ownLife } from '../../base/process-life.js';
import type { CollectionDefinition } from '../collection.js';

const holderSchema = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  /** Lets processes of the same machine see at once that the holder's process has ended. */
  life: z.strictObject({ machine: z.string(), pid: z.int(), startTicks: z.string() }).optional(),
  beat: z.int(),
});

export type Holder = Readonly<z.infer<typeof holderSchema>>;

export const HOLDERS: CollectionDefinition<Holder> = {
  name: 'lease_holders',
  schema: holderSchema,
  key: ['id'],
  indexes: [],
  isMomentary: true,
};

export function newHolder(): Holder {
  const life = ownLife();
  return { id: randomUUID(), host: hostname(), pid: process.pid, ...(life && { life }), beat: 0 };
}
