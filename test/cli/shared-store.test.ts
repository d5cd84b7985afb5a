import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { defineAnyDocument } from '../../src/store/transfer-record.js';
import { note, NOTES } from '../store/collection-contract.js';
import { until } from '../support/until.js';
import { deadline, type Ending, type Running, workplace, type Workplace } from './support/command.js';
import { planIn, reportIn } from './support/report.js';
import { AS_STORED, chain, LAYER_CUT, MANY_OPERATORS, QUICK } from './support/tiny-models.js';

/** A workplace, and a function that starts a command (a process of its own) that measures twenty bricks. */
async function placeWithCommand(t: TestContext) {
  const place = await workplace(t);
  const model = await place.write('many.onnx', chain(MANY_OPERATORS));
  const args = ['dlbricks', 'validate', model, ...LAYER_CUT, ...QUICK, ...AS_STORED, '--export-json', '-'];
  return { place, start: () => place.start(args) };
}

/** Waits until a command has leases on its measurements. */
async function untilLeased({ store }: Workplace): Promise<void> {
  const opened = await openEmbeddedStore(store, {});
  const isLeased = async (): Promise<boolean> => {
    const shape = (await opened.listCollections()).find(({ name }) => name === 'leases');
    return shape !== undefined && (await opened.collection(defineAnyDocument(shape)).count()) > 0;
  };
  try {
    await until(isLeased);
  } finally {
    await opened.close();
  }
}

/** Suspends a command, but not in the middle of a transaction: others would wait for its lock. */
async function suspend({ process }: Running, { store }: Workplace): Promise<void> {
  const opened = await openEmbeddedStore(store, {});
  try {
    for (;;) {
      process.kill('SIGSTOP');
      const written = opened.collection(NOTES).put(note('x'));
      if (await Promise.race([written.then(() => true), setTimeout(500, false)])) return;
      process.kill('SIGCONT');
      await written;
    }
  } finally {
    await opened.close();
  }
}

function assertComplete(ending: Ending): void {
  assert.equal(ending.code, 0, ending.stderr);
  assert.deepEqual(
    reportIn(ending).models.map(({ coverage }) => coverage),
    [1],
  );
}

/** The estimate, which depends on every measured latency of a brick, and both latencies of the whole model. */
function latenciesIn(ending: Ending): readonly unknown[] {
  return reportIn(ending).models.map((model) => [model.estimate_ms, model.end_to_end_ms, model.end_to_end_repeat_ms]);
}

const WAITS = /waiting for \d+ measurements? that process (\d+) on \S+ takes for another evaluation/;

describe('two commands with one store at the same time', deadline, () => {
  it('take each measurement once, and report the same', async (t) => {
    const { place, start } = await placeWithCommand(t);
    const first = start();
    await untilLeased(place);
    // The first command then still measures when the second one begins.
    await suspend(first, place);
    const second = start();
    const [, pid] = await second.said(WAITS);
    assert.equal(Number(pid), first.pid);
    first.process.kill('SIGCONT');
    const endings = await Promise.all([first.ended, second.ended]);
    for (const ending of endings) assertComplete(ending);
    const [one, other] = endings;
    assert.ok(planIn(other).toMeasure > 0);
    // Latencies that were measured twice would differ.
    assert.deepEqual(latenciesIn(other), latenciesIn(one));
  });

  it('continue at once where the one that measures is killed', async (t) => {
    const { place, start } = await placeWithCommand(t);
    const first = start();
    await untilLeased(place);
    await suspend(first, place);
    const second = start();
    await second.said(WAITS);
    first.process.kill('SIGKILL');
    assertComplete(await second.ended);
  });

  it('continue where the one that measures is suspended, and both end', async (t) => {
    const { place, start } = await placeWithCommand(t);
    const first = start();
    await untilLeased(place);
    await suspend(first, place);
    assertComplete(await start().ended);
    first.process.kill('SIGCONT');
    assertComplete(await first.ended);
  });
});
