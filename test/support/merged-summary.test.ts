import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { MergedSummary } from './merged-summary.js';

function told(message: string, file?: string): TestEvent {
  return { type: 'test:diagnostic', data: { nesting: 0, message, ...(file !== undefined && { file }) } };
}

describe('the summary of one test run after the other', () => {
  it('has the sums of their counts and times', () => {
    const summary = new MergedSummary();
    const runs = [
      ['tests 3', 'pass 2', 'fail 1', 'duration_ms 12.5'],
      ['tests 4', 'pass 4', 'fail 0', 'duration_ms 9'],
    ];
    for (const message of runs.flat()) assert.ok(summary.take(told(message)));
    assert.deepEqual(
      summary.events(),
      ['tests 7', 'pass 6', 'fail 1', 'duration_ms 21.5'].map((message) => told(message)),
    );
  });

  it('leaves all other events to the reporter', () => {
    const summary = new MergedSummary();
    const others: readonly TestEvent[] = [
      told('tests 3', 'a.test.js'),
      told('50 kills while 1500 bricks were measured'),
      { type: 'test:plan', data: { nesting: 0, count: 2 } },
    ];
    for (const event of others) assert.equal(summary.take(event), false);
    assert.deepEqual(summary.events(), []);
  });
});
