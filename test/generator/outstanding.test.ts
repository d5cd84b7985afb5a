import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outstanding } from '../../src/generator/outstanding.js';
import type { Answer } from '../../src/load/trial.js';

const ANSWER: Answer = { startedMs: null, finishedMs: 0, batch: null };

/** Queries whose answers a test gives, by a clock that it sets. */
function queries() {
  let nowMs = 0;
  const outstanding = new Outstanding({ now: () => nowMs });
  const waiting: (() => void)[] = [];
  const target = outstanding.countedTarget({
    send: (_, answered) => void waiting.push(() => answered(ANSWER)),
  });
  return {
    outstanding,
    send: () => target.send(1, () => undefined),
    answerAt: (ms: number) => {
      nowMs = ms;
      waiting.shift()?.();
    },
    setTime: (ms: number) => (nowMs = ms),
  };
}

test('what waits for idle servers is called once, after the last answer', () => {
  const { outstanding, send, answerAt } = queries();
  let calls = 0;
  outstanding.whenIdle(() => calls++);
  assert.equal(calls, 1);
  send();
  send();
  outstanding.whenIdle(() => calls++);
  answerAt(1);
  assert.equal(calls, 1);
  answerAt(2);
  assert.equal(calls, 2);
  send();
  answerAt(3);
  assert.equal(calls, 2);
});

test('servers are silent from the last answer on, and not while they have no queries', () => {
  const { outstanding, send, answerAt, setTime } = queries();
  setTime(1000);
  assert.equal(outstanding.silentMs, 0);
  send();
  send();
  setTime(1500);
  assert.equal(outstanding.silentMs, 500);
  answerAt(1700);
  setTime(2000);
  assert.deepEqual([outstanding.silentMs, outstanding.count], [300, 1]);
  answerAt(2100);
  setTime(9000);
  assert.equal(outstanding.silentMs, 0);
});
