import { z } from 'zod';
import type { MachineSpread } from '../agent/benchmark-agent.js';
import type { System } from '../measurement/system.js';
import type { CollectionDefinition } from '../store/collection.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';
import type { MeasuringContext } from './measuring.js';

const spreadSchema = z.strictObject({
  system: z.string(),
  machines: z.int().min(2),
  benchmarks: z.int().min(1),
  relative: z.number().nonnegative(),
  comparedAt: z.iso.datetime(),
});

type StoredSpread = z.infer<typeof spreadSchema>;

const MACHINE_SPREADS: CollectionDefinition<StoredSpread> = {
  name: 'machine_spreads',
  schema: spreadSchema,
  key: ['system'],
  indexes: [],
};

function spreadIn({ system: _, comparedAt: __, ...spread }: StoredSpread): MachineSpread {
  return spread;
}

/**
 * The agent's comparison, which is stored, or a stored one of more benchmarks. The store does not know a measurement's
 * machine, so it is of the whole system. @throws PlatformError as the store does
 */
export async function readMachineSpread(
  { fingerprint: system }: System,
  { agent, store }: Pick<MeasuringContext, 'agent' | 'store'>,
): Promise<MachineSpread | undefined> {
  const spreads = store.collection(MACHINE_SPREADS);
  const found = agent.machineSpread?.();
  const stored = await unlessUnavailable(spreads.get({ system }));
  if (found === undefined || (stored !== undefined && stored.benchmarks > found.benchmarks)) {
    return stored && spreadIn(stored);
  }
  await spreads.put({ system, ...found, comparedAt: new Date().toISOString() });
  return found;
}
