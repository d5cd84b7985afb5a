import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../targets/target.js';
import { type Case, inputOf } from './case.js';
import { causeOf, keepFind, nameOf } from './finds.js';
import type { Limits } from './limits.js';
import { type Outcome, Prober } from './prober.js';
import { targetsIn } from './targets-in.js';

export interface FuzzOptions {
  /** The module that exports the TARGETS. */
  readonly module: string;
  readonly limits: Limits;
  /** The folder that keeps the finds. */
  readonly out: string;
  readonly print: (line: string) => void;
}

/** Numbers of inputs by outcome, for each target. */
export type Counts = ReadonlyMap<string, Readonly<Record<Verdict | 'found', number>>>;

async function withProber<T>({ module, limits }: FuzzOptions, use: (prober: Prober) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const prober = new Prober(module, folder, limits);
  try {
    return await use(prober);
  } finally {
    await prober.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Gives inputs to all targets in turn, as long as `isWanted` says so. Saves the inputs that fail, and only the first
 * one of each cause.
 *
 * @param seed of the first round; each round has the next one
 */
export async function fuzz(seed: number, isWanted: () => boolean, options: FuzzOptions): Promise<Counts> {
  const { module, out, print } = options;
  const targets = await targetsIn(module);
  const counts = new Map(targets.map(({ name }) => [name, { read: 0, refused: 0, found: 0 }]));
  const causes = new Set<string>();
  await withProber(options, async (prober) => {
    for (let round = seed; isWanted(); round++) {
      for (const target of targets) {
        if (!isWanted()) return;
        const one: Case = { target: target.name, seed: round };
        const outcome = await prober.probe(one);
        const count = counts.get(target.name) ?? { read: 0, refused: 0, found: 0 };
        count[outcome.kind === 'held' ? outcome.verdict : 'found']++;
        if (outcome.kind === 'held') continue;
        const cause = causeOf(one, outcome.problem);
        if (causes.has(cause)) continue;
        causes.add(cause);
        const folder = await keepFind(out, one, await inputOf(target, one.seed), outcome.problem);
        print(`${nameOf(one)}: ${outcome.problem}\nKept in ${folder}. Again: make fuzz SEED=${nameOf(one)}`);
      }
    }
  });
  return counts;
}

export function repeat(one: Case, options: FuzzOptions): Promise<Outcome> {
  return withProber(options, (prober) => prober.probe(one));
}
