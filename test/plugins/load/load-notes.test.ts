import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interruptedText, listNotes } from '../../../plugins/load/load-table.js';
import type { LoadResult } from '../../../plugins/load/load-result.js';

function notesOf(scenario: string, queries: number, p99: number | null, failing: object = { failed: 0 }): string {
  const measured = { queries, ...failing, ended: 'complete', invalid: null, reason: null, p99_ms: p99 };
  const nothing = { rates: [], batches: [], generations: [], unusable: [], overheads: [], warnings: [] };
  const system = { processor: 'P', cores: 2, threads: 1, framework: 'onnxruntime', framework_version: '1' };
  const settings = { scenario, bound: null, seed: 1, deployment: null };
  const rows = [{ model: 'net', offered_per_second: null, measured, predicted: null }];
  return listNotes({ ...nothing, rows, settings, system, agents: 1 } as unknown as LoadResult).join('\n');
}

test('a result without p99 says how many queries it needs', () => {
  const expected = 'p99 needs 459 queries, and there are 200';
  assert.ok(notesOf('single', 200, null).includes(`${expected}; --queries 459 (queries in manifests) asks for them`));
  assert.ok(notesOf('replay', 200, null).includes(`${expected}; name a file with more`));
  assert.doesNotMatch(notesOf('single', 459, 3), /p99 needs/);
  // Its table is about throughput.
  assert.doesNotMatch(notesOf('batch', 30, null), /p99 needs/);
});

test('a result with failed queries says why the first one failed, and does not ask for more queries', () => {
  const notes = notesOf('server', 200, null, { failed: 3, failure: 'out of memory' });
  assert.match(notes, /net: 3 of 200 queries failed, so there are no percentiles; the first one: out of memory/);
  assert.doesNotMatch(notes, /p99 needs/);
});

test('a result that was interrupted before its first trial names none', () => {
  const [none, one] = [[], [{ model: 'net' }]].map((rows) => interruptedText({ rows } as unknown as LoadResult));
  assert.equal(none, 'interrupted; no trial was done');
  assert.equal(one, 'interrupted; the trials that were done are above');
});
