// `npm test`: runs all test files by Node's test runner, with one report for all of them. Those that mostly wait have a slot of
// their own beside those that compute, of which as many run at once as there are cores.
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { MergedSummary } from './merged-summary.js';
import { testFiles } from './test-processes.js';

const WAITING_AT_ONCE = 1;

const { waiting, computing } = testFiles();
const runs = [
  run({ files: [...computing], concurrency: availableParallelism() }),
  run({ files: [...waiting], concurrency: WAITING_AT_ONCE }),
];

/** One run after the other, though both are under way: the reporter wants the events of a file in one piece. */
async function* events(): AsyncGenerator<TestEvent> {
  const summary = new MergedSummary();
  for (const one of runs) {
    for await (const event of one as AsyncIterable<TestEvent>) {
      if (event.type === 'test:fail') process.exitCode = 1;
      if (!summary.take(event)) yield event;
    }
  }
  yield* summary.events();
}

Readable.from(events()).pipe(new spec()).pipe(process.stdout);
