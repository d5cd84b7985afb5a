import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { line, surroundingsSchema } from '../measurement/surroundings.js';
import { systemFactsSchema } from '../measurement/system.js';
import { TRACE_LEVELS, type TraceLevel } from '../tracing/trace-level.js';

export const ABILITIES = [
  'infer_types',
  'optimize',
  'measure_bricks',
  'trace',
  'settings',
  'load',
  'run_once',
] as const;

export type Ability = (typeof ABILITIES)[number];

/** Most entries of a list. A processor has some tens of features. */
const MAX_ENTRIES = 100;

/** What an agent says about itself, once for each connection. Fingerprints of systems come from it: identifySystem. */
export const agentDescriptionSchema = systemFactsSchema
  .extend({
    processor: line,
    architecture: line,
    operatingSystem: line,
    processorFeatures: z.array(line).max(MAX_ENTRIES),
    framework: line,
    frameworkVersion: line,
    devices: systemFactsSchema.shape.devices.unwrap().max(MAX_ENTRIES).optional(),
    host: line,
    /** Execution providers, the default first; empty: the processor alone. */
    providers: z.array(line.min(1)).max(MAX_ENTRIES),
    traceLevels: z.array(z.enum(TRACE_LEVELS)),
    abilities: z.array(z.enum(ABILITIES)),
    /** Absent in descriptions of earlier versions. */
    surroundings: surroundingsSchema.optional(),
  })
  .readonly();

export type AgentDescription = z.infer<typeof agentDescriptionSchema>;

const LEVELS = ['APPLICATION_TRACE', 'MODEL_TRACE', 'FRAMEWORK_TRACE'] as const satisfies readonly TraceLevel[];

const NEWER: ReadonlySet<Ability> = new Set(['settings', 'load', 'run_once']);

/** What an agent of version 0.1 can do. It only says whether its framework keeps a profile of kernels. */
export function abilitiesWith(keepsProfile: boolean): Pick<AgentDescription, 'traceLevels' | 'abilities'> {
  return keepsProfile
    ? { traceLevels: [...LEVELS], abilities: ABILITIES.filter((ability) => !NEWER.has(ability)) }
    : { traceLevels: LEVELS.slice(0, -1), abilities: ['infer_types', 'optimize'] };
}

export function isAbleTo({ abilities }: Pick<AgentDescription, 'abilities'>, ability: Ability): boolean {
  return abilities.includes(ability);
}

/** Fields that may differ between two connections to an agent: memory varies by a few pages between boots. */
const VARYING: ReadonlySet<keyof AgentDescription> = new Set(['memoryBytes', 'host', 'surroundings']);

export function differencesBetween(before: AgentDescription, now: AgentDescription): readonly string[] {
  const fields = (Object.keys({ ...before, ...now }) as (keyof AgentDescription)[]).filter(
    (name) => !VARYING.has(name),
  );
  return fields.flatMap((name) => {
    const [was, is] = [before[name], now[name]].map((value) => JSON.stringify(value) ?? 'nothing');
    return was === is ? [] : [`${name} was ${was} and is ${is}`];
  });
}

export function otherSystem(address: string, differences: readonly string[]): PlatformError {
  const problem = `the agent at ${address} is another system since the connection was lost: ${differences.join('; ')}`;
  return new PlatformError('unavailable', `${problem}; run the command again to measure on that system`);
}
