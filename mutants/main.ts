import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { type Accepted, readAccepted } from './accepted.js';
import { passingTests } from './baseline.js';
import { sourceFiles, testFiles } from './files.js';
import { Hunter } from './hunt.js';
import { mutantsOf } from './mutant.js';
import {
  type Judged,
  MIN_SCORE,
  outdatedAcceptances,
  score,
  scoreTable,
  stuckMutants,
  type TargetResult,
  unexpectedSurvivors,
} from './report.js';
import { sampleOf } from './sample.js';
import { Sandbox } from './sandbox.js';
import { type Target, TARGETS } from './targets.js';

// Run this in the project's folder with the paths to mutate. Without paths, it mutates all targets in targets.ts.

const COMPILED = 'dist';

const ACCEPTED = 'mutants/accepted.yml';

interface Options {
  readonly accepted: Accepted;
  readonly sandbox: Sandbox;
  /** Maximum number of mutants of one target that are judged. */
  readonly size: number;
  readonly seed: number;
}

/** Runs the tests against a sample of the files' mutants. Prints each unexpected survivor at once, and each mutant at which a test did not end. */
async function judge(
  target: Target,
  files: readonly string[],
  { accepted, sandbox, size, seed }: Options,
): Promise<TargetResult> {
  const mutants = (await Promise.all(files.map((file) => mutantsOf(file, sandbox.folder)))).flat();
  const hunter = new Hunter(await passingTests(testFiles(target), sandbox));
  const judged: Judged[] = [];
  for (const mutant of sampleOf(mutants, size, seed)) {
    const one = { mutant, fate: await hunter.hunt(mutant, sandbox) };
    for (const line of [...unexpectedSurvivors([one], accepted), ...stuckMutants([one])]) console.log(line);
    judged.push(one);
  }
  return { folder: target.code, mutants, judged };
}

/** @returns whether the scores are high enough, and the survivors are exactly the accepted mutants */
async function main(only: readonly string[], size: number, seed: number): Promise<boolean> {
  const accepted = await readAccepted(ACCEPTED);
  const sandbox = await Sandbox.create(COMPILED);
  process.env['TMPDIR'] = sandbox.temporary;
  // With new random data each time, a property test could kill a mutant in one run and not in the next.
  process.env['PROPERTY_SEED'] = '1';
  const results: TargetResult[] = [];
  for (const target of TARGETS) {
    const files = sourceFiles(target, only);
    if (files.length > 0) results.push(await judge(target, files, { accepted, sandbox, size, seed }));
  }
  const outdated = results.flatMap((result) => outdatedAcceptances(result, accepted));
  for (const line of outdated) console.log(`${line}: accepted in ${ACCEPTED}, but noticed or gone`);
  console.log(`\n${scoreTable(results, accepted)}\nAt most ${size} mutants for each folder, chosen by seed ${seed}.`);
  const low = results.filter((result) => score(result) < MIN_SCORE);
  for (const { folder } of low) console.log(`${folder}: less than ${100 * MIN_SCORE} % of the mutants are noticed`);
  const unexpected = results.flatMap(({ judged }) => unexpectedSurvivors(judged, accepted));
  return results.length > 0 && low.length === 0 && outdated.length === 0 && unexpected.length === 0;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${text}: expected a whole number from 1`);
  return value;
}

// Without this, running tests would continue, and the sandbox would remain.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
});
process.exitCode = (await main(positionals, wholeNumber(values.sample), wholeNumber(values.seed))) ? 0 : 1;
