import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Random } from '../../fuzz/random.js';
import { isRunning } from '../../test/agent/support/processes.js';
import { type Running, workplace, type Workplace } from '../../test/cli/support/command.js';
import type { Lifetime } from '../../test/support/lifetime.js';

/**
 * One round: a place of its own, and choices that follow from its seed. All resources of a round end with the round.
 */
export interface Round extends Lifetime {
  readonly random: Random;
  readonly place: Workplace;
  /** Time that an undisturbed command takes here. */
  readonly commandMs: number;
}

/** A command of a round, to find the cause of a failure. */
export interface Started {
  readonly args: readonly string[];
  readonly running: Running;
}

/** A timeout, only against hanging. */
const SOON_MS = 30_000;

const POLL_MS = 10;

export type RoundPlace = Workplace & { readonly started: readonly Started[] };

/** A place whose processes keep their temporary files in it. It lists the commands that were started in it. */
export async function placeFor(lifetime: Lifetime): Promise<RoundPlace> {
  const place = await workplace(lifetime);
  const temporary = place.path('tmp');
  await mkdir(temporary);
  const started: Started[] = [];
  const start: Workplace['start'] = (args, options = {}) => {
    const running = place.start(args, { ...options, env: { TMPDIR: temporary, ...options.env } });
    started.push({ args, running });
    return running;
  };
  return { ...place, start, run: (args, options) => start(args, options).ended, started };
}

/** All processes that were started in a place, directly or not: they inherit its HOME. */
export function processesIn({ folder }: Workplace): readonly number[] {
  const marker = `HOME=${folder}\0`;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => isRunning(pid) && read(pid, 'environ').includes(marker));
}

/** The command line of a process, for people. */
export function commandOf(pid: number): string {
  return `${pid}: ${read(pid, 'cmdline').replaceAll('\0', ' ')}`;
}

/** Empty where the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** A random moment within the time of an undisturbed command. */
export function moment({ random, commandMs }: Round): Promise<void> {
  return setTimeout(random.below(commandMs));
}

/** Waits for a condition. @throws where it does not hold soon */
export async function soon(condition: () => boolean | Promise<boolean>, problem: () => string): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(problem());
    await setTimeout(POLL_MS);
  }
}
