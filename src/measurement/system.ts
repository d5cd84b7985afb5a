import { createHash } from 'node:crypto';
import { z } from 'zod';
import { threadsSchema } from '../base/default-threads.js';

export const OPTIMIZATION_LEVELS = ['disabled', 'basic', 'extended', 'layout', 'all'] as const;

/** Settings of the runtime that influence measurements. */
export const runOptionsSchema = z.strictObject({
  threads: threadsSchema,
  executionProvider: z.string().min(1),
  optimizationLevel: z.enum(OPTIMIZATION_LEVELS),
});

export type RunOptions = z.infer<typeof runOptionsSchema>;

/** The options that models run with by default. */
export function runOptionsOf(threads: number): RunOptions {
  return { threads, executionProvider: 'cpu', optimizationLevel: 'all' };
}

/** Options with which every agent can describe itself. Its abilities do not depend on them. */
export const ANY_RUN = runOptionsOf(1);

/** Everything that a measurement depends on besides the benchmark and the protocol. */
export const systemSchema = z.strictObject({
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  /** Model name as the operating system gives it. */
  processor: z.string(),
  /** As Node names it: x64, arm64. */
  architecture: z.string(),
  operatingSystem: z.string(),
  /** Cores that this process may use. */
  cores: z.int().min(1),
  memoryBytes: z.number().positive(),
  /** Last-level cache; 0 where the operating system does not say. */
  cacheBytes: z.number().nonnegative(),
  /** Instruction set extensions that steer a runtime's choice of kernels, sorted. */
  processorFeatures: z.array(z.string()),
  framework: z.string(),
  frameworkVersion: z.string(),
  runOptions: runOptionsSchema,
});

export type System = z.infer<typeof systemSchema>;

/**
 * Adds the fingerprint: SHA-256 over all fields in a fixed order. The amount of memory is left out, because it varies by
 * a few pages between boots of the same machine and no latency depends on it.
 */
export function withFingerprint(system: Omit<System, 'fingerprint'>): System {
  const { threads, executionProvider, optimizationLevel } = system.runOptions;
  const facts = [
    system.processor,
    system.architecture,
    system.operatingSystem,
    system.cores,
    system.cacheBytes,
    [...system.processorFeatures].sort(),
    system.framework,
    system.frameworkVersion,
    threads,
    executionProvider,
    optimizationLevel,
  ];
  const fingerprint = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  return { ...system, fingerprint };
}
