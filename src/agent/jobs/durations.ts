import { PlatformError } from '../../base/errors.js';
import type { ProfiledRun } from '../../predictor/profile.js';

const NS_PER_MS = 1e6;

export function durationsIn(run: ProfiledRun): ReadonlyMap<string, number> {
  return new Map(run.kernels.map(({ name, durationNs }) => [name, durationNs / NS_PER_MS]));
}

/** @throws PlatformError `unsupported` where the node is missing in the profile */
export function durationOf(durations: ReadonlyMap<string, number>, node: string): number {
  const ms = durations.get(node);
  if (ms !== undefined) return ms;
  throw new PlatformError('unsupported', `the runtime's profile has no event of node ${node}`);
}
