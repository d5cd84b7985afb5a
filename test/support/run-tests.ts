// `npm test`: runs all test files by Node's test runner, with one report for all of them. Files that mostly wait have two
// slots of their own. Beside them, as many computing files run at once as there are cores. Files that compare measured
// times run last, one at a time. `--quick` runs the quick ones.
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { MergedSummary } from './merged-summary.js';
import { testFiles } from './test-processes.js';

const WAITING_AT_ONCE = 2;

/** For one file, against hanging only: what a failed test leaves open may keep its process alive. */
const FILE_LIMIT_MS = 20 * 60_000;

const quick = process.argv.includes('--quick');
const { waiting, computing, measuring } = testFiles({ quick });
// Without a lane of waiting files beside them, a third process uses the cores while others wait.
const computingAtOnce = availableParallelism() + (waiting.length === 0 ? 1 : 0);

/** Starts the tests of `files`. `run` takes no files as all files of the folder. */
function start(files: readonly string[], concurrency: number): AsyncIterable<TestEvent>[] {
  return files.length === 0 ? [] : [run({ files: [...files], concurrency, timeout: FILE_LIMIT_MS })];
}

/**
 * The events of one run after the other, although two run at once: the reporter needs the events of a file in one
 * piece.
 */
async function* runEvents(): AsyncGenerator<TestEvent> {
  for (const one of [...start(computing, computingAtOnce), ...start(waiting, WAITING_AT_ONCE)]) yield* one;
  for (const one of start(measuring, 1)) yield* one;
}

async function* events(): AsyncGenerator<TestEvent> {
  const summary = new MergedSummary();
  for await (const event of runEvents()) {
    if (event.type === 'test:fail') process.exitCode = 1;
    if (!summary.take(event)) yield event;
  }
  yield* summary.events();
}

Readable.from(events()).pipe(new spec()).pipe(process.stdout);
