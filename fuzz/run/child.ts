import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Target, Verdict } from '../targets/target.js';
import { type Case, inputOf } from './case.js';
import { targetsIn } from './targets-in.js';

// Reads the inputs in a process of its own, so that an input that hangs or takes all memory becomes a find and does not
// end the fuzzer. Its arguments are the module that exports the TARGETS, and a folder for their files.

/** The result of one input. */
export type Answer =
  | {
      readonly kind: 'done';
      readonly verdict: Verdict;
      readonly byteLength: number;
      readonly cpuMs: number;
      readonly peakBytes: number;
    }
  | { readonly kind: 'failed'; readonly error: string };

const [module = '', folder = ''] = process.argv.slice(2);

/** The targets, with seeds that are made once: some are expensive. */
const seeded = new Map<string, Target>();
for (const target of await targetsIn(module)) {
  const seeds = await target.seeds();
  seeded.set(target.name, { ...target, seeds: () => Promise.resolve(seeds) });
}

async function answerTo({ target: name, seed }: Case): Promise<Answer> {
  const target = seeded.get(name);
  if (target === undefined) return { kind: 'failed', error: `there is no target ${name}` };
  const input = await inputOf(target, seed);
  const own = join(folder, name);
  await mkdir(own, { recursive: true });
  const before = process.cpuUsage();
  try {
    const verdict = await target.check(input, own);
    const { user, system } = process.cpuUsage(before);
    const peakBytes = process.resourceUsage().maxRSS * 1024;
    return { kind: 'done', verdict, byteLength: input.length, cpuMs: (user + system) / 1000, peakBytes };
  } catch (error) {
    return { kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on('message', (one: Case) => {
  void answerTo(one).then((answer) => process.send?.(answer));
});
process.send?.('ready');
