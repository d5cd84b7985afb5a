import type { Machine } from '../../agent/spread/machines.js';
import { messageOf } from '../../base/errors.js';
import { runOptionsOf, type System } from '../../measurement/system.js';
import type { PluginEvent } from '../event.js';

/** Agents with the same fingerprint. */
export interface MeasuringSystem {
  /** A few words that none of the other systems has. */
  readonly name: string;
  readonly system: System;
  readonly machines: readonly [Machine, ...Machine[]];
}

/** The systems of some agents, and a note on each agent that does not answer. */
export interface FoundSystems {
  readonly systems: readonly [MeasuringSystem, ...MeasuringSystem[]];
  readonly notes: readonly PluginEvent[];
}

/** Characters of a fingerprint that distinguish systems which look alike. */
const SHORT_FINGERPRINT = 8;

/** Facts of a system that people distinguish it by, in the order of their importance. */
function factsOf({ processor, cores, framework, frameworkVersion, operatingSystem }: System): readonly string[] {
  return [processor, `${cores} cores`, `${framework} ${frameworkVersion}`, operatingSystem];
}

/** For each system the facts in which systems differ; of one alone, its processor. */
function namesOf(systems: readonly System[]): readonly string[] {
  const facts = systems.map(factsOf);
  const differing = [...(facts[0]?.keys() ?? [])].filter((fact) => new Set(facts.map((of) => of[fact])).size > 1);
  const names = facts.map((of) => (differing.length === 0 ? [0] : differing).map((fact) => of[fact]).join(', '));
  return names.map((name, index) => {
    const isUnique = names.filter((other) => other === name).length === 1;
    const fingerprint = systems[index]?.fingerprint.slice(0, SHORT_FINGERPRINT) ?? '';
    return isUnique ? name : `${name}, ${fingerprint}`;
  });
}

/**
 * Groups agents by their fingerprints, systems and agents in the order of the agents.
 *
 * @param machines at least one
 * @throws PlatformError of the first agent where none answers
 */
export async function systemsOf(machines: readonly Machine[], threads: number): Promise<FoundSystems> {
  const runOptions = runOptionsOf(threads);
  const asked = await Promise.allSettled(machines.map(({ agent }) => agent.system(runOptions)));
  const groups = new Map<string, { readonly system: System; readonly machines: [Machine, ...Machine[]] }>();
  const notes: PluginEvent[] = [];
  let refusal: unknown;
  for (const [index, answer] of asked.entries()) {
    const machine = machines[index];
    if (machine === undefined) continue;
    if (answer.status === 'rejected') {
      refusal ??= answer.reason;
      const message = `the agent at ${machine.name} is left out: ${messageOf(answer.reason)}`;
      notes.push({ kind: 'note', level: 'warning', message });
      continue;
    }
    const { fingerprint } = answer.value;
    const group = groups.get(fingerprint);
    if (group === undefined) groups.set(fingerprint, { system: answer.value, machines: [machine] });
    else group.machines.push(machine);
  }
  const names = namesOf([...groups.values()].map(({ system }) => system));
  const [first, ...rest] = [...groups.values()].map((group, index) => ({ ...group, name: names[index] ?? '' }));
  if (first === undefined) throw refusal;
  return { systems: [first, ...rest], notes };
}

/** The system with most agents; of equal ones, the first. */
export function largestOf([first, ...rest]: FoundSystems['systems']): MeasuringSystem {
  return rest.reduce((best, system) => (system.machines.length > best.machines.length ? system : best), first);
}

/** The same with so many agents at most, the first ones. */
export function withAgents(system: MeasuringSystem, most: number): MeasuringSystem {
  const [first, ...rest] = system.machines;
  return { ...system, machines: [first, ...rest.slice(0, most - 1)] };
}

/** Which agents measure on a system, in a sentence. @param most as many as were asked for */
export function sentenceOf({ system, machines }: MeasuringSystem, most: number): string {
  const { processor, framework, frameworkVersion } = system;
  const of = most === Infinity || machines.length >= most ? '' : ` (of ${most} that were asked for)`;
  const agents = machines.length === 1 ? '1 agent' : `${machines.length} agents`;
  const where = machines.map(({ name }) => name).join(', ');
  return `${agents}${of} with ${processor} and ${framework} ${frameworkVersion}: ${where}`;
}
