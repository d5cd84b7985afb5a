import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RunProgress } from '../../src/measuring/run-progress.js';
import type { Task } from '../../src/measuring/task.js';
import type { EvaluationEvent } from '../../src/evaluation/event.js';
import { sampleTasks } from './sample-tasks.js';
import { withClock } from './with-clock.js';

const BRICKS = sampleTasks('model: Relu', 'model: Neg', 'model: Abs', 'model: Exp');
const BRICK = BRICKS[0] as Task;

function wholeModel(work: number): Task {
  return { label: 'model (whole)', request: { ...BRICK.request, name: 'model' }, work };
}

type Measuring = Extract<EvaluationEvent, { readonly kind: 'measuring' }>;

function shown(progress: RunProgress, runsDone = 0, together = 1, first: Task = BRICK): Measuring {
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

  test('has a total that shrinks with dropped tasks, and another count for further ones', () => {
    const progress = begun(BRICKS);
    progress.drop(BRICKS.slice(0, 2));
    assert.equal(shown(progress).total, 2);
    const { step, done, total } = shown(RunProgress.of('repeating', BRICKS.slice(0, 3)));
    assert.deepEqual([step, done, total], ['repeating', 0, 3]);
  });

  test('has no remaining time before a quarter of the work is done', (t) => {
    const time = withClock(t);
    const many = sampleTasks(...Array.from({ length: 8 }, (_, index) => `model: ${index}`));
    const progress = begun(many);
    const told = many.map((task) => {
      time.nowMs += 1000;
      progress.count(task);
      return shown(progress, 0, 1, many[7]).secondsLeft;
    });
    assert.deepEqual(told, [undefined, 6, 5, 4, 3, 2, 1, 0]);
  });

  test('takes into account that a whole model takes longer than a brick', (t) => {
    const time = withClock(t);
    const whole = wholeModel(8);
    const progress = begun([...BRICKS, whole]);
    time.nowMs += 1000;
    for (const task of BRICKS.slice(0, 2)) progress.count(task);
    // Most of the time left would rest on the speed of bricks.
    assert.equal(shown(progress).secondsLeft, undefined);
    progress.drop([whole]);
    progress.add([wholeModel(2)]);
    // Two bricks took one second: two further ones and a model like two bricks take two.
    assert.equal(shown(progress).secondsLeft, 2);
  });

  test('does not count time before the start and time of others, nor the preparation of runs', (t) => {
    const time = withClock(t);
    const progress = begun(BRICKS);
    time.nowMs += 60_000;
    progress.start();
    time.nowMs += 10_000;
    progress.leaveOut(9000);
    progress.count(BRICK);
    // One brick took one second.
    assert.equal(shown(progress).secondsLeft, 3);
    time.nowMs += 5000;
    shown(progress, 1, 3);
    time.nowMs += 1000;
    // Five runs of the other bricks take one second; four are left.
    assert.equal(shown(progress, 6, 3).secondsLeft, 0.8);
  });
});

/** Numbers between 0 and 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('the time left of simulated runs', () => {
  const RUNS = 50;
  const TICK_MS = 500;

  /** Tasks that are measured in one process: time until the first run, and of each run. */
  interface Session {
    readonly tasks: readonly Task[];
    readonly preparingMs: number;
    readonly runMs: number;
  }

  /**
   * Bricks in processes of 20, then whole models. Each task takes up to twice as long as its work says, or half as long;
   * models and bricks differ by a further factor of up to 2.5, and this machine from the imaginary one by up to 3.
   */
  function sessionsOf(random: () => number): readonly Session[] {
    const factor = (most: number): number => most ** (2 * random() - 1);
    const machine = factor(3);
    const ofModels = factor(2.5);
    const session = (tasks: readonly Task[], kind: number): Session => {
      const ms = tasks.reduce((sum, { work }) => sum + work * machine * kind * factor(2), 0);
      const preparingMs = 300 + ms * 0.5 * random();
      return { tasks, preparingMs, runMs: Math.max(1, (ms - preparingMs) / RUNS) };
    };
    const bricks = sampleTasks(...Array.from({ length: 20 + Math.floor(random() * 200) }, () => 'model: brick'));
    const worked = bricks.map((task) => ({ ...task, work: 5 + 200 * random() ** 3 }));
    const models = Array.from({ length: Math.floor(random() * 4) }, () => wholeModel(300 + 3000 * random()));
    const sessions: Session[] = [];
    for (let start = 0; start < worked.length; start += 20) sessions.push(session(worked.slice(start, start + 20), 1));
    return [...sessions, ...models.map((model) => session([model], ofModels))];
  }

  test('is right within a factor of about two after the first quarter, or is not told', (t) => {
    const time = withClock(t);
    let told = 0;
    let possible = 0;
    let wrong = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const sessions = sessionsOf(randomNumbers(seed));
      const startMs = time.nowMs;
      const endMs = sessions.reduce((sum, { preparingMs, runMs }) => sum + preparingMs + RUNS * runMs, startMs);
      const progress = begun(sessions.flatMap(({ tasks }) => tasks));
      let fromMs = startMs;
      for (const { tasks, preparingMs, runMs } of sessions) {
        const untilMs = fromMs + preparingMs + RUNS * runMs;
        for (; time.nowMs < untilMs; time.nowMs += TICK_MS) {
          const runs = Math.max(0, Math.floor((time.nowMs - fromMs - preparingMs) / runMs));
          const event = progress.event('', {
            first: tasks[0],
            together: tasks.length,
            runsDone: Math.min(runs, RUNS),
            runsTotal: RUNS,
          });
          assert.ok(event.kind === 'measuring');
          assert.equal(
            event.total,
            sessions.reduce((sum, session) => sum + session.tasks.length, 0),
          );
          if (time.nowMs - startMs < (endMs - startMs) / 4) continue;
          possible++;
          if (event.secondsLeft === undefined) continue;
          told++;
          // A second more or less does not matter to anybody.
          const said = event.secondsLeft + 1;
          const truth = (endMs - time.nowMs) / 1000 + 1;
          if (said > 2 * truth || truth > 2 * said) wrong++;
        }
        time.nowMs = untilMs;
        for (const task of tasks) progress.count(task);
        fromMs = untilMs;
      }
    }
    t.diagnostic(`${possible} moments, ${told} times told, ${wrong} times wrong`);
    assert.ok(told > possible / 2, `told ${told} of ${possible} times`);
    assert.ok(wrong < told / 20, `wrong ${wrong} of ${told} times`);
  });
});
