import { z } from 'zod';

const count = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER);

/** Bytes of a kernel, as the runtime's profile states them for the first run of a session. */
export const kernelMemorySchema = z.strictObject({
  parameterBytes: count.optional().describe('Constant inputs'),
  activationBytes: count.optional().describe('Other inputs'),
  outputBytes: count.optional(),
  allocatedBytes: z.number().optional().describe('Asked for by the kernel; below zero where it gave back more'),
  requestedBytes: count.optional().describe('In use after the kernel, as they were asked for'),
  inUseBytes: count.optional().describe('In use after the kernel, as the allocator rounds them'),
  peakBytes: count.optional().describe("The most in use so far, in the allocator's arena"),
  arenaBytes: count.optional().describe('What the arena holds'),
});

/** Time of the main thread in the sections of the runtime's thread pool, microseconds. */
export const poolSchema = z.strictObject({
  runUs: count,
  waitUs: count,
  /** Handing parts of the kernel to other threads. */
  distributionUs: count,
});
