import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Random } from '../../fuzz/random.js';
import type { Case } from '../../fuzz/run/case.js';
import { nameOf } from '../../fuzz/run/finds.js';
import { messageOf } from '../../src/base/errors.js';
import type { Workplace } from '../../test/cli/support/command.js';
import { placeFor, processesIn, type RoundPlace } from '../place/round.js';
import type { Target } from '../targets/target.js';

/** Only ends a round that hangs: what waits for servers and leases waits for a minute, and the rest is commands' time. */
const WAITING_MS = 180_000;

/** More commands than a round runs one after the other. */
const COMMANDS = 10;

export interface PlayOptions {
  /** Time that an undisturbed command takes. */
  readonly commandMs: number;
  /** The folder that keeps the places of failed rounds. */
  readonly out: string;
}

/** The problem of a failed round, and the folder that keeps its place. */
export interface Failure {
  readonly problem: string;
  readonly folder: string;
}

/** Plays one round. @returns undefined where everything held */
export async function play(target: Target, seed: number, options: PlayOptions): Promise<Failure | undefined> {
  const undo: (() => unknown)[] = [];
  const after = (one: () => unknown): void => void undo.push(one);
  const place = await placeFor({ after });
  const isDone = new AbortController();
  try {
    const round = { after, place, random: new Random(seed), commandMs: options.commandMs };
    await Promise.race([target.run(round), tooLate(WAITING_MS + COMMANDS * options.commandMs, isDone.signal)]);
    return undefined;
  } catch (thrown) {
    const problem = messageOf(thrown);
    return { problem, folder: await keep(place, { target: target.name, seed }, problem, options.out) };
  } finally {
    isDone.abort();
    killAll(place);
    for (const one of undo.reverse()) await one();
  }
}

/** Rejects at the limit, and never resolves. */
function tooLate(limitMs: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    void setTimeout(limitMs, undefined, { signal }).then(
      () => reject(new Error(`not done after ${Math.round(limitMs / 1000)} s`)),
      () => undefined,
    );
  });
}

function killAll(place: Workplace): void {
  for (const pid of processesIn(place)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Keeps a place with the output of its commands. @returns the folder */
async function keep(place: RoundPlace, one: Case, problem: string, out: string): Promise<string> {
  killAll(place);
  const folder = join(out, `${one.target}-${one.seed}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'problem.txt'), `make torture SEED=${nameOf(one)}\n\n${problem}\n`);
  for (const [index, { args, running }] of place.started.entries()) {
    const { code, stdout, stderr } = await running.ended;
    const said = `$ mlmodelscope ${args.join(' ')}\n${stdout}${stderr}\nended with ${code}\n`;
    await writeFile(join(folder, `command-${index}.txt`), said);
  }
  await cp(place.folder, join(folder, 'place'), { recursive: true, force: true });
  return folder;
}
