import { counted } from '../base/counted.js';
import { differences } from '../base/differences.js';
import { optimizerText } from './runtime-settings.js';
import { runsOnProcessor, type System } from './system.js';

/** The facts that decide a system's fingerprint, in words; the most important for people first. */
const FACTS = {
  processor: ({ processor }: System) => processor,
  cores: ({ cores }: System) => counted(cores, 'core'),
  devices: ({ devices = [] }: System) => devices.map(({ name }) => name).join(' and ') || 'no device',
  framework: ({ framework, frameworkVersion }: System) => `${framework} ${frameworkVersion}`,
  operatingSystem: ({ operatingSystem }: System) => operatingSystem,
  threads: ({ runOptions: { threads } }: System) => counted(threads, 'thread'),
  provider: ({ runOptions }: System) =>
    runsOnProcessor(runOptions) ? 'on the processor' : `on ${runOptions.executionProvider}`,
  optimizer: ({ runOptions: { optimizationLevel: level } }: System) => optimizerText(level),
  schedule: ({ runOptions: { executionMode = 'sequential', interOpThreads = 1 } }: System) =>
    executionMode === 'sequential' ? 'kernels one after another' : `${counted(interOpThreads, 'kernel')} at a time`,
  session: ({ runOptions: { session = [] } }: System) => session.join(' ') || 'no session keys',
  architecture: ({ architecture }: System) => architecture,
  cache: ({ cacheBytes }: System) => `cache ${Math.round(cacheBytes / 1024)} KiB`,
} as const;

type SystemFact = keyof typeof FACTS;

/** A fact: the instruction set extensions that only some of the systems have. */
function featuresAmong(systems: readonly System[]): (system: System) => string {
  const counts = new Map<string, number>();
  for (const { processorFeatures } of systems)
    for (const feature of processorFeatures) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const some = new Set([...counts].filter(([, count]) => count < systems.length).map(([feature]) => feature));
  return ({ processorFeatures }) => {
    const own = processorFeatures.filter((feature) => some.has(feature));
    return own.length > 0 ? `with ${own.join(' ')}` : `without ${[...some].join(' ')}`;
  };
}

/** @param shown facts that are shown anyway */
export function systemDifferences(
  systems: readonly System[],
  shown: readonly SystemFact[] = [],
): (system: System) => string {
  const others = (Object.keys(FACTS) as SystemFact[]).filter((fact) => !shown.includes(fact));
  return differences(systems, [...others.map((fact) => FACTS[fact]), featuresAmong(systems)]);
}
