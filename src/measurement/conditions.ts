import { z } from 'zod';

/**
 * What else happened on the machine while a measurement was taken, so that noise has a name. Processor times are sums over all
 * cores that the operating system counts; what it does not say is absent.
 */
export const conditionsSchema = z.strictObject({
  /** How long the measurement was watched. */
  wallMs: z.number().nonnegative(),
  /** Cores that processor times are of. */
  cores: z.int().min(1),
  /** Processor time that the hypervisor gave to other machines. */
  stealMs: z.number().nonnegative().optional(),
  /** Processor time of other processes on this machine. */
  othersMs: z.number().nonnegative().optional(),
  /** Time for which a control group's quota held processes back. */
  throttledMs: z.number().nonnegative().optional(),
  /** Lowest and highest frequency that the first core was seen at. */
  lowestMhz: z.number().positive().optional(),
  highestMhz: z.number().positive().optional(),
});

export type Conditions = z.infer<typeof conditionsSchema>;
