// `npm test`: runs all test files by Node's test runner, with one report for all of them. More files run at once than there
// are cores, because many wait for a part of their time. Files that compare measured times run last, one at a time.
// `--quick` runs the quick ones.
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { MergedSummary } from './merged-summary.js';
import { testFiles } from './test-processes.js';

/** Processes beyond the number of cores. They use the cores while others wait. */
const MORE_AT_ONCE = { quick: 1, all: 3 } as const;

/** For one file, against hanging only: what a failed test leaves open may keep its process alive. */
const FILE_LIMIT_MS = 20 * 60_000;

const quick = process.argv.includes('--quick');
const { together, measuring } = testFiles({ quick });
const atOnce = availableParallelism() + MORE_AT_ONCE[quick ? 'quick' : 'all'];

/** Starts the tests of `files`. `run` takes no files as all files of the folder. */
function start(files: readonly string[], concurrency: number): AsyncIterable<TestEvent>[] {
  return files.length === 0 ? [] : [run({ files: [...files], concurrency, timeout: FILE_LIMIT_MS })];
}

async function* runEvents(): AsyncGenerator<TestEvent> {
  for (const one of start(together, atOnce)) yield* one;
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
