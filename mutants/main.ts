import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Accepted, readAccepted } from './accepted.js';
import { passingTest } from './baseline.js';
import { sourceFiles, testFiles } from './files.js';
import { Hunter } from './hunt.js';
import { mutantsOf } from './mutant.js';
import { inParallel } from './parallel.js';
import { type Judged, outdatedAcceptances, scores, unexpectedSurvivors } from './report.js';
import { Sandbox } from './sandbox.js';
import { type Target, TARGETS } from './targets.js';

// Run in the project's folder, with the paths to look at; without any, at all that targets.ts names.

const COMPILED = 'dist';

const ACCEPTED = 'mutants/accepted.yml';

/** Makes all mutants of the files and has tests look for them; prints survivors as they come. */
async function judge(
  target: Target,
  files: readonly string[],
  accepted: Accepted,
  sandboxes: readonly Sandbox[],
): Promise<readonly Judged[]> {
  const tests = testFiles(target).map((path) => path.replace(/\.ts$/, '.js'));
  const hunter = new Hunter(await inParallel(tests, sandboxes, passingTest));
  const all: Judged[] = [];
  for (const file of files) {
    const judged = await inParallel(await mutantsOf(file, COMPILED), sandboxes, async (mutant, sandbox) => {
      return { mutant, fate: await hunter.hunt(mutant, sandbox) };
    });
    for (const line of unexpectedSurvivors(judged, accepted)) console.log(line);
    all.push(...judged);
  }
  return all;
}

/** @returns whether the survivors are the accepted ones */
async function main(only: readonly string[]): Promise<boolean> {
  const accepted = await readAccepted(ACCEPTED);
  const numbers = Array.from({ length: availableParallelism() }, (_, i) => i + 1);
  const sandboxes = await Promise.all(numbers.map((number) => Sandbox.create(COMPILED, number)));
  // Tests that are ended leave their files behind.
  const temporary = await mkdtemp(join(tmpdir(), 'mutants-'));
  process.env['TMPDIR'] = temporary;
  // With other data each time, properties would kill a mutant in one run and not in the next.
  process.env['PROPERTY_SEED'] = '1';
  try {
    const judged: Judged[] = [];
    for (const target of TARGETS) {
      const files = sourceFiles(target, only);
      if (files.length > 0) judged.push(...(await judge(target, files, accepted, sandboxes)));
    }
    const outdated = outdatedAcceptances(judged, accepted);
    for (const line of outdated) console.log(`${line}: accepted in ${ACCEPTED}, but killed or gone`);
    console.log(scores(judged, accepted).join('\n'));
    return outdated.length === 0 && unexpectedSurvivors(judged, accepted).length === 0;
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.remove()));
    await rm(temporary, { recursive: true, force: true });
  }
}

// Without this, tests that are running would go on.
process.once('SIGINT', () => process.exit(130));
process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
