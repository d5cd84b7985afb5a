import { z } from 'zod';

/** The load, to explain noise. Processor times are sums over all cores. Values that are not known are absent. */
export const conditionsSchema = z.strictObject({
  wallMs: z.number().nonnegative(),
  cores: z.int().min(1),
  /** Processor time that the hypervisor gives to other machines. */
  stealMs: z.number().nonnegative().optional(),
  /** Processor time of other processes on this machine. */
  othersMs: z.number().nonnegative().optional(),
  /** Time for which a control group's quota throttles processes. */
  throttledMs: z.number().nonnegative().optional(),
  /** Lowest and highest observed frequency of the first core. */
  lowestMhz: z.number().positive().optional(),
  highestMhz: z.number().positive().optional(),
  /** Runs that are left out of the samples, because another machine shared the core during these runs. */
  droppedRuns: z.int().nonnegative().optional(),
  /** Of the samples, with a shared core; 0 to 1. They are kept where there are too few other runs. */
  sharedShare: z.number().min(0).max(1).optional(),
  /** Page faults during the timed runs that read from the disk. */
  majorFaults: z.int().nonnegative().optional(),
});

export type Conditions = z.infer<typeof conditionsSchema>;

/** Of a measurement in which this process takes part: its own processor time is no other's. @param since its beginning */
export function withoutOwn(conditions: Conditions, since: NodeJS.CpuUsage): Conditions {
  const { othersMs } = conditions;
  if (othersMs === undefined) return conditions;
  const { user, system } = process.cpuUsage(since);
  return { ...conditions, othersMs: Math.max(0, othersMs - (user + system) / 1000) };
}
