import type { Machine } from '../../agent/spread/machines.js';
import { counted } from '../../base/counted.js';
import { groupedBy } from '../../base/grouped-by.js';
import { PlatformError } from '../../base/errors.js';
import { shortIds } from '../../base/short-ids.js';
import { identifySystem, buildRunOptions, type System } from '../../measurement/system.js';
import { systemDifferences } from '../../measurement/system-differences.js';

export interface MeasuringSystem {
  /** Short; no other system of the evaluation has it. */
  readonly name: string;
  readonly system: System;
  readonly machines: readonly [Machine, ...Machine[]];
}

export type FoundSystems = readonly [MeasuringSystem, ...MeasuringSystem[]];

/**
 * The facts in which systems differ, else the processor; with the start of the fingerprint where names are the same.
 */
function nameSystems(systems: readonly System[]): readonly string[] {
  const differences = systemDifferences(systems);
  const names = systems.map((system) => differences(system) || system.processor);
  const short = shortIds(systems.map(({ fingerprint }) => fingerprint));
  return names.map((name, index) => {
    const isUnique = names.filter((other) => other === name).length === 1;
    return isUnique ? name : `${name}, ${short(systems[index]?.fingerprint ?? '')}`;
  });
}

export function groupBySystem(machines: readonly [Machine, ...Machine[]], threads: number): FoundSystems {
  const systemOf = ({ agent: { description } }: Machine): System =>
    identifySystem(description, buildRunOptions(threads, description));
  const groups = [...groupedBy(machines, (machine) => systemOf(machine).fingerprint).values()];
  const systems = groups.map(([machine]) => systemOf(machine));
  const names = nameSystems(systems);
  const [first, ...rest] = groups.flatMap((group, index): MeasuringSystem[] => {
    const system = systems[index];
    return system === undefined ? [] : [{ name: names[index] ?? '', system, machines: group }];
  });
  if (first === undefined) throw new PlatformError('internal', 'no system of any machine');
  return [first, ...rest];
}

export function findLargest([first, ...rest]: FoundSystems): MeasuringSystem {
  return rest.reduce((best, system) => (system.machines.length > best.machines.length ? system : best), first);
}

export function withAgents(system: MeasuringSystem, most: number): MeasuringSystem {
  const [first, ...rest] = system.machines;
  return { ...system, machines: [first, ...rest.slice(0, most - 1)] };
}

/** @param most the number of agents that was asked for */
export function describeAgents({ system, machines }: MeasuringSystem, most: number): string {
  const { processor, framework, frameworkVersion } = system;
  const of = most === Infinity || machines.length >= most ? '' : ` (of ${most} that were asked for)`;
  const where = machines.map(({ name }) => name).join(', ');
  return `${counted(machines.length, 'agent')}${of} with ${processor} and ${framework} ${frameworkVersion}: ${where}`;
}
