import { z } from 'zod';
import type { MachineSpread } from '../agent/benchmark-agent.js';
import type { System } from '../measurement/system.js';
import type { CollectionDefinition } from '../store/collection.js';
import type { MeasuringContext } from './measuring.js';

const spreadSchema = z.strictObject({
  /** The fingerprint. */
  system: z.string(),
  machines: z.int().min(2),
  relative: z.number().nonnegative(),
  comparedAt: z.iso.datetime(),
});

const MACHINE_SPREADS: CollectionDefinition<z.infer<typeof spreadSchema>> = {
  name: 'machine_spreads',
  schema: spreadSchema,
  key: ['system'],
  indexes: [],
};

/**
 * How far the machines of a system differ: as the agent has found now, which is kept, else as was found last. A store
 * does not say which machine a measurement is of, so that what is known of the system is true of each.
 *
 * @returns undefined where machines of this system were never compared
 * @throws PlatformError as the store does
 */
export async function machineSpreadOf(
  { fingerprint: system }: System,
  { agent, store }: Pick<MeasuringContext, 'agent' | 'store'>,
): Promise<MachineSpread | undefined> {
  const spreads = store.collection(MACHINE_SPREADS);
  const found = agent.machineSpread?.();
  if (found !== undefined) {
    await spreads.put({ system, ...found, comparedAt: new Date().toISOString() });
    return found;
  }
  const known = await spreads.get({ system });
  return known && { machines: known.machines, relative: known.relative };
}
