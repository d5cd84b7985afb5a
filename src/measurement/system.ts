import { z } from 'zod';
import { oncePer } from '../base/once-per.js';
import { threadsSchema } from '../base/default-threads.js';
import { sha256Of } from '../base/sha256.js';
import { PROCESSOR } from './as-it-is.js';
import {
  DEFAULT_RUNTIME,
  EXECUTION_MODES,
  OPTIMIZATION_LEVELS,
  type RuntimeSettings,
  listSessionEntries,
  filterSessionEntries,
} from './runtime-settings.js';

/** Settings of the runtime that influence measurements. What is the default or has no effect is absent. */
export const runOptionsSchema = z.strictObject({
  threads: threadsSchema,
  executionProvider: z.string().min(1),
  optimizationLevel: z.enum(OPTIMIZATION_LEVELS),
  executionMode: z.enum(EXECUTION_MODES).optional(),
  interOpThreads: threadsSchema.optional(),
  /** KEY=VALUE; an agent checks the keys. */
  session: z.array(z.string().max(1100)).optional(),
});

export type RunOptions = Readonly<z.infer<typeof runOptionsSchema>>;

/** What differs from the defaults of versions without these options; the runtime needs inter-op threads in parallel only. */
function furtherOptions({ executionMode, interOpThreads = 1, session = [] }: Partial<RunOptions>) {
  const isParallel = executionMode === 'parallel';
  return {
    ...(isParallel ? { executionMode } : {}),
    ...(isParallel && interOpThreads > 1 ? { interOpThreads } : {}),
    ...(session.length > 0 ? { session: session.toSorted() } : {}),
  };
}

export function canonicalRunOptions({
  threads,
  executionProvider,
  optimizationLevel,
  ...rest
}: RunOptions): RunOptions {
  return { threads, executionProvider, optimizationLevel, ...furtherOptions(rest) };
}

/** @param providers of the agent, the default first; none: its processor alone */
export function buildRunOptions(
  threads: number,
  { providers = [] }: { readonly providers?: readonly string[] } = {},
  settings: RuntimeSettings = DEFAULT_RUNTIME,
): RunOptions {
  const { optimization_level: optimizationLevel, execution_mode: executionMode, session } = settings;
  const further = {
    executionMode,
    interOpThreads: settings.inter_op_threads,
    session: [...listSessionEntries(session)],
  };
  return canonicalRunOptions({ threads, executionProvider: providers[0] ?? PROCESSOR, optimizationLevel, ...further });
}

/** The options on which it depends how the runtime optimizes a graph. */
export function optimizingRun({ session = [], ...options }: RunOptions): RunOptions {
  const { threads, executionProvider, optimizationLevel } = options;
  return canonicalRunOptions({
    threads,
    executionProvider,
    optimizationLevel,
    session: [...filterSessionEntries('optimizer', session)],
  });
}

/** Without the options of the optimizer, and those that decide when a graph's kernels run. */
export function optimizedRun({ threads, executionProvider, session = [] }: RunOptions): RunOptions {
  return canonicalRunOptions({
    threads,
    executionProvider,
    optimizationLevel: 'disabled',
    session: [...filterSessionEntries('kernels', session)],
  });
}

/** Whether agents of all versions know these options. */
export function areCommonOptions(options: RunOptions): boolean {
  return Object.keys(furtherOptions(options)).length === 0;
}

/** Options with which every agent can describe itself. Its abilities do not depend on them. */
export const ANY_RUN = buildRunOptions(1);

export function runsOnProcessor({ executionProvider }: RunOptions): boolean {
  return executionProvider === PROCESSOR;
}

const MAX_DEVICE_TEXT = 300;

export const deviceSchema = z.strictObject({
  /** 'gpu', 'npu' and so on. */
  kind: z.string().min(1).max(MAX_DEVICE_TEXT),
  /** Model name as its driver gives it. */
  name: z.string().min(1).max(MAX_DEVICE_TEXT),
  /** 0 where it has no memory of its own. */
  memoryBytes: z.number().nonnegative(),
});

/** The facts about a machine and a framework that measurements depend on. */
export const systemFactsSchema = z.strictObject({
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
  /** Absent where models run on the processor alone. */
  devices: z.array(deviceSchema).min(1).optional(),
});

export type SystemFacts = Readonly<z.infer<typeof systemFactsSchema>>;

export const systemSchema = z.strictObject({
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  ...systemFactsSchema.shape,
  runOptions: runOptionsSchema,
});

export type System = z.infer<typeof systemSchema>;

/**
 * SHA-256 of all facts in a fixed order, without memory, which varies by pages between boots. A fact that is newer than
 * version 0.1 is hashed only where it is present, so that stored measurements keep their system.
 */
function identify(facts: SystemFacts, runOptions: RunOptions): System {
  const { processor, architecture, operatingSystem, cores, memoryBytes, cacheBytes, devices = [] } = facts;
  const { framework, frameworkVersion } = facts;
  const { threads, executionProvider, optimizationLevel } = runOptions;
  const processorFeatures = [...facts.processorFeatures].sort();
  const further = furtherOptions(runOptions);
  const hashed = [
    processor,
    architecture,
    operatingSystem,
    cores,
    cacheBytes,
    processorFeatures,
    framework,
    frameworkVersion,
    threads,
    executionProvider,
    optimizationLevel,
    ...(devices.length === 0 ? [] : [devices.map(({ kind, name }) => [kind, name])]),
    ...(Object.keys(further).length === 0 ? [] : [further]),
  ];
  return {
    fingerprint: sha256Of(JSON.stringify(hashed)),
    processor,
    architecture,
    operatingSystem,
    cores,
    memoryBytes,
    cacheBytes,
    processorFeatures,
    framework,
    frameworkVersion,
    ...(devices.length === 0 ? {} : { devices }),
    runOptions,
  };
}

/** The systems of each description that were identified, by their options. */
const identified = oncePer((_: SystemFacts) => new Map<string, System>());

export function identifySystem(facts: SystemFacts, runOptions: RunOptions): System {
  const known = identified(facts);
  const key = JSON.stringify(runOptions);
  const system = known.get(key) ?? identify(facts, runOptions);
  known.set(key, system);
  return system;
}

/** The class of a system, independent of its run options: the fingerprint with one thread. */
export function computeClass(facts: SystemFacts): string {
  return identifySystem(facts, ANY_RUN).fingerprint;
}
