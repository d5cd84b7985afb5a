import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { caseOf } from './run/finds.js';
import { fuzz, type FuzzOptions, repeat } from './run/fuzz.js';
import { LIMITS } from './run/limits.js';

// `make fuzz` runs this in the project's folder: for some time, or for one case again.

const OPTIONS: FuzzOptions = {
  module: new URL('targets/index.js', import.meta.url).href,
  limits: LIMITS,
  out: 'out/fuzz',
  print: (line) => console.log(line),
};

/** @returns whether all inputs were read or refused */
async function fuzzFor(seconds: number, seed: number): Promise<boolean> {
  console.log(`Fuzzing for ${seconds} s. Again: make fuzz SECONDS=${seconds} SEED=${seed}`);
  const endMs = performance.now() + seconds * 1000;
  const counts = await fuzz(seed, () => performance.now() < endMs, OPTIONS);
  for (const [target, { read, refused, found }] of counts) {
    console.log(`${target}: ${read + refused + found} inputs, ${read} read, ${refused} refused, ${found} finds`);
  }
  return [...counts.values()].every(({ found }) => found === 0);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } });
  const one = caseOf(values.seed ?? '');
  if (one === undefined) return fuzzFor(Number(values.seconds), Number(values.seed ?? randomInt(2 ** 31)));
  const outcome = await repeat(one, OPTIONS);
  console.log(outcome.kind === 'held' ? outcome.verdict : outcome.problem);
  return outcome.kind === 'held';
}

process.exitCode = (await main()) ? 0 : 1;
