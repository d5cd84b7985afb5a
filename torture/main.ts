import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { caseOf } from '../fuzz/run/finds.js';
import { placeFor } from './place/round.js';
import { play, type PlayOptions } from './run/play.js';
import { torture } from './run/torture.js';
import { commandIn } from './targets/command.js';
import { TARGETS } from './targets/index.js';

// `make torture` runs this in the project's folder: a number of rounds, or one round again.

const OUT = 'out/torture';

const print = (line: string): void => console.log(line);

/** Time that an undisturbed command takes here. */
async function commandMs(): Promise<number> {
  const undo: (() => unknown)[] = [];
  const place = await placeFor({ after: (one) => void undo.push(one) });
  const args = [...(await commandIn(place, 'layer')), '-'];
  const startMs = performance.now();
  const { code, stderr } = await place.run(args);
  const durationMs = performance.now() - startMs;
  for (const one of undo.reverse()) await one();
  if (code !== 0) throw new Error(`the command fails without being disturbed: ${stderr}`);
  return durationMs;
}

/** @returns whether everything held */
async function tortureFor(
  rounds: number,
  seed: number,
  only: readonly string[],
  options: PlayOptions,
): Promise<boolean> {
  const unknown = only.find((name) => TARGETS.every((target) => target.name !== name));
  if (unknown !== undefined) throw new Error(`there is no target ${unknown}`);
  print(`Torturing for ${rounds} rounds. Again: make torture ROUNDS=${rounds} SEED=${seed}`);
  const targets = TARGETS.filter((target) => {
    if (only.length > 0 && !only.includes(target.name)) return false;
    const missing = target.missing?.();
    if (missing !== undefined) print(`${target.name}: skipped, needs ${missing}`);
    return missing === undefined;
  });
  const counts = await torture(targets, rounds, seed, { ...options, print });
  for (const [target, { held, failed }] of counts) print(`${target}: ${held} rounds held, ${failed} failed`);
  return [...counts.values()].every(({ failed }) => failed === 0);
}

async function again({ target: name, seed }: { readonly target: string; readonly seed: number }, options: PlayOptions) {
  const target = TARGETS.find((one) => one.name === name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  const failure = await play(target, seed, options);
  print(failure === undefined ? 'held' : `${failure.problem}\nKept in ${failure.folder}.`);
  return failure === undefined;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '50' }, seed: { type: 'string' }, target: { type: 'string' } },
  });
  const options = { commandMs: await commandMs(), out: OUT };
  const one = caseOf(values.seed ?? '');
  if (one !== undefined) return again(one, options);
  return tortureFor(
    Number(values.rounds),
    Number(values.seed ?? randomInt(2 ** 31)),
    values.target?.split(',') ?? [],
    options,
  );
}

process.exitCode = (await main()) ? 0 : 1;
