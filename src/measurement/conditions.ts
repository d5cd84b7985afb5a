import { z } from 'zod';

/**
 * The load on the machine during a measurement, to explain noise. Processor times are sums over all cores that the
 * operating system counts. Values that it does not provide are absent.
 */
export const conditionsSchema = z.strictObject({
  /** Duration of the watching. */
  wallMs: z.number().nonnegative(),
  /** Cores that processor times are of. */
  cores: z.int().min(1),
  /** Processor time that the hypervisor gave to other machines. */
  stealMs: z.number().nonnegative().optional(),
  /** Processor time of other processes on this machine. */
  othersMs: z.number().nonnegative().optional(),
  /** Time for which a control group's quota held processes back. */
  throttledMs: z.number().nonnegative().optional(),
  /** Lowest and highest observed frequency of the first core. */
  lowestMhz: z.number().positive().optional(),
  highestMhz: z.number().positive().optional(),
  /** Runs that were left out of the samples, since another machine shared the core meanwhile. */
  droppedRuns: z.int().nonnegative().optional(),
  /** Share of the samples that were taken while another machine shared the core, since there were too few others; 0 to 1. */
  sharedShare: z.number().min(0).max(1).optional(),
});

export type Conditions = z.infer<typeof conditionsSchema>;
