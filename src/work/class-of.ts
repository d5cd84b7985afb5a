import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { ANY_RUN, type System, withFingerprint } from '../measurement/system.js';

/** The class of a system, independent of its run options: the fingerprint with one thread. */
export function classOf(system: System): string {
  return withFingerprint({ ...system, runOptions: ANY_RUN }).fingerprint;
}

/** @throws PlatformError as the agent does */
export async function classOfAgent(agent: BenchmarkAgent): Promise<string> {
  return classOf(await agent.system(ANY_RUN));
}
