import { z } from 'zod';
import type { MachineSpread } from '../agent/benchmark-agent.js';
import type { System } from '../measurement/system.js';
import type { CollectionDefinition } from '../store/collection.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';
import type { MeasuringContext } from './measuring.js';

const spreadSchema = z.strictObject({
  /** The fingerprint. */
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

function spreadIn(stored: StoredSpread | undefined): MachineSpread | undefined {
  if (stored === undefined) return undefined;
  const { machines, benchmarks, relative } = stored;
  return { machines, benchmarks, relative };
}

/**
 * How far the machines of a system differ: the agent's current comparison, which is stored, or a stored comparison of
 * more benchmarks. The store does not know the machine of a measurement, so the spread applies to the whole system.
 *
 * @returns undefined where machines of this system were never compared
 * @throws PlatformError as the store does; where its server is gone, only the current comparison is known
 */
export async function readMachineSpread(
  { fingerprint: system }: System,
  { agent, store }: Pick<MeasuringContext, 'agent' | 'store'>,
): Promise<MachineSpread | undefined> {
  const spreads = store.collection(MACHINE_SPREADS);
  const found = agent.machineSpread?.();
  const stored = await unlessUnavailable(spreads.get({ system }));
  if (found === undefined || (stored !== undefined && stored.benchmarks > found.benchmarks)) return spreadIn(stored);
  await spreads.put({ system, ...found, comparedAt: new Date().toISOString() });
  return found;
}
