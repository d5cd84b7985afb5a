// `fromWire…` checks its message and throws PlatformError `usage`; the caller knows which side was wrong.
import * as wire from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { type Surroundings, TIMING_VARIABLES } from '../../measurement/surroundings.js';
import { identifySystem, type RunOptions, type System, type SystemFacts } from '../../measurement/system.js';
import { check } from '../../rpc/check-message.js';
import { toWireEnum } from '../../rpc/wire-enum.js';
import { TRACE_LEVELS } from '../../tracing/trace-level.js';
import {
  ABILITIES,
  abilitiesWith,
  type AgentDescription,
  agentDescriptionSchema,
  isAbleTo,
} from '../agent-description.js';
import { fromWireRunOptions, toWireRunOptions } from './benchmark-wire.js';

function factsIn({ fingerprint: _, runOptions: __, memoryBytes, cacheBytes, devices, ...facts }: wire.System): object {
  return {
    ...facts,
    memoryBytes: Number(memoryBytes),
    cacheBytes: Number(cacheBytes),
    ...(devices.length > 0 && {
      devices: devices.map((device) => ({ ...device, memoryBytes: Number(device.memoryBytes) })),
    }),
  };
}

export function toWireSystem(facts: SystemFacts, runOptions: RunOptions): wire.System {
  const { memoryBytes, cacheBytes, devices = [], ...rest } = identifySystem(facts, runOptions);
  return {
    ...rest,
    runOptions: toWireRunOptions(runOptions),
    memoryBytes: BigInt(Math.round(memoryBytes)),
    cacheBytes: BigInt(Math.round(cacheBytes)),
    devices: devices.map((device) => ({ ...device, memoryBytes: BigInt(Math.round(device.memoryBytes)) })),
  };
}

/** The fingerprint is computed here. */
export function fromWireSystem(message: wire.System | undefined): System {
  const description = fromWireDescription({ ...wire.DescribeSystemResponse.create(), system: message }, '');
  return identifySystem(description, fromWireRunOptions(message?.runOptions));
}

export function toWireDescription(description: AgentDescription, runOptions: RunOptions): wire.DescribeSystemResponse {
  const { host, abilities, providers, traceLevels, surroundings } = description;
  return {
    system: toWireSystem(description, runOptions),
    measuresTogether: isAbleTo(description, 'measure_bricks'),
    hostname: host,
    abilities: [wire.Ability.MEASURE, ...abilities.map((ability): wire.Ability => toWireEnum(wire.Ability, ability))],
    executionProviders: [...providers],
    traceLevels: [...traceLevels],
    surroundings: surroundings && toWireSurroundings(surroundings),
  };
}

function toWireSurroundings({ environment, ...facts }: Surroundings): wire.Surroundings {
  const known = Object.fromEntries(Object.entries(facts).map(([fact, value]) => [fact, value ?? '']));
  return wire.Surroundings.create({ ...known, environment: { ...environment } });
}

/** Variables that this version does not know are left out. */
function surroundingsIn({ decoder, environment, ...facts }: wire.Surroundings): object {
  const known = new Set<string>(TIMING_VARIABLES);
  return {
    ...Object.fromEntries(Object.entries(facts).map(([fact, value]) => [fact, value || null])),
    ...(decoder !== '' && { decoder }),
    environment: Object.fromEntries(Object.entries(environment).filter(([name]) => known.has(name))),
  };
}

/** Leaves out abilities and levels of newer versions. @param address where no host is named @throws PlatformError */
export function fromWireDescription(message: wire.DescribeSystemResponse, address: string): AgentDescription {
  const { system, measuresTogether, hostname, abilities, executionProviders, traceLevels, surroundings } = message;
  const known = ABILITIES.filter((name) => abilities.includes(toWireEnum(wire.Ability, name)));
  const usual = abilitiesWith(abilities.length === 0 ? measuresTogether : known.includes('trace'));
  const described = {
    ...(system && factsIn(system)),
    host: hostname === '' ? address : hostname,
    providers: executionProviders,
    traceLevels:
      traceLevels.length === 0 ? usual.traceLevels : TRACE_LEVELS.filter((level) => traceLevels.includes(level)),
    abilities: abilities.length === 0 ? usual.abilities : known,
    ...(surroundings !== undefined && { surroundings: surroundingsIn(surroundings) }),
  };
  return check(agentDescriptionSchema, described, 'system');
}
