import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RunProgress } from '../../src/measuring/run-progress.js';
import type { Task } from '../../src/measuring/task.js';
import type { EvaluationEvent } from '../../src/evaluation/event.js';
import { sampleTasks } from './sample-tasks.js';
import { withClock } from './with-clock.js';

const BRICKS = sampleTasks('model: Relu', 'model: Neg', 'model: Abs', 'model: Exp');
const [BRICK] = BRICKS;

type Measuring = Extract<EvaluationEvent, { readonly kind: 'measuring' }>;

function shown(progress: RunProgress, runsDone = 0, together = 1, first: Task | undefined = BRICK): Measuring {
  const event = progress.event('', { first, together, runsDone, runsTotal: 10 });
  assert.ok(event.kind === 'measuring');
  return event;
}

function begun(tasks: readonly Task[]): RunProgress {
  const progress = new RunProgress();
  progress.add(tasks);
  progress.start();
  return progress;
}

describe('the progress of a run', () => {
  test('moves while several bricks are measured in one process, and does not go back', () => {
    const progress = begun(BRICKS);
    assert.deepEqual(
      [0, 5, 10].map((runs) => shown(progress, runs, 4).done),
      [0, 2, 4],
    );
    for (const task of BRICKS.slice(0, 2)) progress.count(task);
    assert.equal(shown(progress).done, 4);
  });

  test('has a total that grows with added tasks and shrinks with dropped tasks', () => {
    const progress = begun(BRICKS);
    progress.add(BRICKS.slice(0, 1));
    assert.equal(shown(progress).total, 5);
    progress.drop(BRICKS.slice(0, 2));
    assert.equal(shown(progress).total, 3);
  });

  test('has no remaining time before anything is done', () => {
    assert.equal(shown(begun(BRICKS)).secondsLeft, undefined);
  });

  test('takes into account that a whole model takes longer than a brick', (t) => {
    const time = withClock(t);
    assert.ok(BRICK !== undefined);
    const whole: Task = { ...BRICK, label: 'model (whole)', work: 20 };
    const progress = begun([...BRICKS, whole]);
    time.nowMs += 1000;
    for (const task of BRICKS) progress.count(task);
    // Four bricks took one second: the work of twenty bricks takes five.
    assert.equal(shown(progress, 0, 1, whole).secondsLeft, 5);
    time.nowMs += 2000;
    // Half of the model took two more seconds. Work of 14 took three seconds, so the other 10 take 3 * 10 / 14 seconds.
    assert.equal(shown(progress, 5, 1, whole).secondsLeft, (10 / 14) * 3);
  });

  test('counts time from its first start, and all bricks that are measured together', (t) => {
    const time = withClock(t);
    const progress = begun(BRICKS);
    time.nowMs += 1000;
    progress.start();
    // Half of two bricks took one second: the work of one brick. The other three bricks take three seconds.
    assert.equal(shown(progress, 5, 2).secondsLeft, 3);
  });
});
