import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listWarnings } from '../../../plugins/load/run-load.js';
import { interruptedText, listNotes, shownLoad } from '../../../plugins/load/load-table.js';
import { computeTakenShare } from '../../../plugins/load/figures.js';
import type { LoadResult, LoadRow } from '../../../plugins/load/load-result.js';

function notesOf(scenario: string, queries: number, p99: number | null, failing: object = { failed: 0 }): string {
  const measured = { queries, ...failing, ended: 'complete', invalid: null, reason: null, p99_ms: p99 };
  return notesOfRows(scenario, [{ model: 'net', offered_per_second: null, measured, predicted: null }]);
}

function notesOfRows(scenario: string, rows: readonly object[], more: object = {}): string {
  const nothing = { rates: [], batches: [], generations: [], unusable: [], overheads: [], warnings: [] };
  const system = { processor: 'P', cores: 2, threads: 1, framework: 'onnxruntime', framework_version: '1' };
  const settings = { scenario, bound: null, seed: 1, deployment: null };
  return listNotes({ ...nothing, rows, settings, system, agents: 1, ...more } as unknown as LoadResult).join('\n');
}

test('a result without p99 says how many queries it needs', () => {
  const expected = 'p99 needs 459 queries, and there are 200';
  assert.ok(notesOf('single', 200, null).includes(`${expected}; --queries 459 (queries in manifests) asks for them`));
  assert.ok(notesOf('replay', 200, null).includes(`${expected}; name a file with more`));
  assert.doesNotMatch(notesOf('single', 459, 3), /p99 needs/);
  // Its table is about throughput.
  assert.doesNotMatch(notesOf('batch', 30, null), /p99 needs/);
});

test('a prediction without p99, or without an interval, says why', () => {
  const predictedOf = (p99_ms: number | null, low: object | null): string => {
    const predicted = { low, value: { p50_ms: 1, p99_ms }, high: low, reason: null };
    return notesOfRows('single', [{ model: 'net', offered_per_second: null, measured: null, predicted }]);
  };
  assert.match(predictedOf(null, {}), /^p99 needs 459 queries; --queries 459 /m);
  const without = /^net: predictions have no interval, because the stored estimate has none; 'dlbricks run' /m;
  assert.match(predictedOf(2, null), without);
  assert.doesNotMatch(predictedOf(2, {}), /p99 needs|no interval/);
});

test('a table of batches fits 80 columns', () => {
  const measured = { samples_per_second: 10630, utilization: 0.389, mean_batch: 2, service_mean_ms: 0.09116 };
  const rows = [{ model: 'squeezenet1.1', samples: [2], batch_limit: 2, measured, predicted: null }];
  const settings = { scenario: 'batch', bound: null, seed: 1, deployment: null };
  const nothing = { rates: [], batches: [], generations: [], unusable: [], overheads: [], warnings: [], agents: 1 };
  const system = { processor: 'P', cores: 2, threads: 1, framework: 'onnxruntime', framework_version: '1' };
  const result = { ...nothing, rows, settings, system } as unknown as LoadResult;
  const lines = shownLoad(result, { wide: false }).text({ width: 80, color: false }).split('\n');
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
});

test('a line of batches that falls has one sign, also with intervals', () => {
  const lineOf = (b_ms: number, ends: readonly [number, number] | readonly []): string => {
    const [low = null, high = null] = ends;
    const ends_ms = { a_low_ms: null, a_high_ms: null, b_low_ms: low, b_high_ms: high };
    const throughput = { low_samples_per_second: null, high_samples_per_second: null };
    const best = { best_batch: 1, largest_batch: 2, largest_samples_per_second: 9, largest_residual_ms: 0 };
    const measured = { a_ms: 0.526, b_ms, ...ends_ms, ...throughput, ...best };
    return notesOfRows('batch', [], { batches: [{ model: 'net', measured, predicted: null }] });
  };
  assert.match(lineOf(0.0207, []), /T\(B\) = 0\.526 \+ 0\.0207 B ms/);
  assert.match(lineOf(-0.0207, []), /T\(B\) = 0\.526 - 0\.0207 B ms/);
  assert.match(lineOf(-0.0207, [-0.05, 0.01]), /T\(B\) = 0\.526 - 0\.0207 \(-0\.01 to 0\.05\) B ms/);
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

test('the trials of a search are summed up, and those of single rates are not', () => {
  const rowAt = (rate: number, ended: string, why: string | null = null): object => {
    const figures = { queries: 1000, failed: 0, p99_ms: 3, ended, reason: ended === 'cut' ? why : null };
    const invalid = ended === 'complete' ? why : null;
    const predicted = { value: {}, reason: `reason at ${rate}` };
    return { model: 'net', offered_per_second: rate, measured: { ...figures, invalid }, predicted };
  };
  const rows = [
    rowAt(10, 'complete'),
    rowAt(20, 'cut', 'over'),
    rowAt(30, 'cut', 'long'),
    rowAt(15, 'complete', 'late'),
  ];
  const rates = [{ model: 'net', measured: [], predicted: null }];
  const lines = notesOfRows('server', rows, { rates }).split('\n');
  const ofNet = lines.filter((line) => line.startsWith('net: '));
  assert.deepEqual(ofNet, [
    'net: no predicted percentiles in 4 of 4 trials, the first: reason at 10',
    'net: cut off in 2 of 4 trials, the first: over',
    'net: no result in 1 of 4 trials: late',
  ]);
  assert.match(notesOfRows('server', rows), /^net, 30\/s: cut off: long$/m);
  assert.match(notesOfRows('server', rows.slice(1, 2), { rates }), /^net, 20\/s: cut off: over$/m);
});

test('warnings about the trials of a model are one line each', () => {
  const rowOf = (steal: number, little: number, latency: number): LoadRow => {
    const measured = { steal_share: steal, little_error: little, latency_mean_ms: latency };
    return { model: 'net', clients: 4, offered_per_second: null, measured } as LoadRow;
  };
  const [steal, little, ...others] = listWarnings([rowOf(0.02, 0, 5), rowOf(0.05, 0.1, 50), rowOf(0, -0.03, 100)]);
  assert.match(steal ?? '', /^net: other machines took 5.0 % .* at most \(2 of 3 trials\); repeat it in a quiet hour$/);
  assert.match(
    little ?? '',
    /law is off by 10.0 % at most \(2 of 3 trials\), because answers came 5 ms after the moments/,
  );
  assert.deepEqual(others, []);
  assert.match(listWarnings([rowOf(0, -0.03, 100)])[0] ?? '', /off by -3.0 %, because answers came 3 ms before/);
  const ofOneMoment = { ...rowOf(0, 0.5, 60), clients: null };
  // A message takes about 1 ms.
  assert.deepEqual(listWarnings([rowOf(0, 0.3, 3), rowOf(0, 0.015, 1000), ofOneMoment]), []);
});

test('other processes that took time while a model was under load are a warning, a few ticks are not', () => {
  const warningsOf = (othersMs: number): readonly string[] => {
    const end = { conditions: { wallMs: 500, cores: 2, stealMs: 0, othersMs } };
    const others_share = computeTakenShare([end, { conditions: null }], 'othersMs');
    return listWarnings([{ model: 'net', measured: { steal_share: 0, others_share } } as LoadRow]);
  };
  assert.deepEqual(warningsOf(80), [
    "net: other processes took 8.0 % of the processors' time; stop them, and repeat it",
  ]);
  assert.deepEqual([warningsOf(40), warningsOf(20)], [[], []]);
  assert.equal(computeTakenShare([{ conditions: null }], 'othersMs'), null);
});

test('a table in a file has the threads, and each prediction with its interval', () => {
  const figures = (by: number) => ({ p50_ms: by, p90_ms: 2 * by, p99_ms: 3 * by, samples_per_second: 4 * by });
  const predicted = { low: figures(1), value: figures(2), high: figures(3), utilization: 0.5, growth: 3, reason: null };
  const system = { processor: 'P', cores: 2, threads: 1, framework: 'onnxruntime', framework_version: '1' };
  const recordOf = (deployment: string | null) => {
    const settings = { scenario: 'server', bound: null, seed: 1, deployment };
    const rows = [{ model: 'net', samples: [1], measured: null, predicted }];
    const nothing = { rates: [], batches: [], generations: [], unusable: [], overheads: [], warnings: [], agents: 1 };
    const { records } = shownLoad({ ...nothing, rows, settings, system } as unknown as LoadResult, {
      wide: false,
    }).result();
    return Object.fromEntries(records.keys.map((key, index) => [key, records.rows[0]?.[index]]));
  };
  const record = recordOf(null);
  const ofInterval = (name: string) =>
    ['', '_low', '_high'].map((end) => record[`predicted_${name.replace('_', `${end}_`)}`]);
  assert.deepEqual(['p50_ms', 'p90_ms', 'p99_ms', 'samples_per_second'].map(ofInterval), [
    [2, 1, 3],
    [4, 2, 6],
    [6, 3, 9],
    [8, 4, 12],
  ]);
  assert.deepEqual([record['threads'], record['predicted_utilization'], record['growth']], [1, 0.5, 3]);
  // A server of others has threads of its own.
  assert.equal(recordOf('oip://x:1/net')['threads'], null);
});

test('measured beside predicted: how far they are apart, and how many are in their intervals', () => {
  const rowOf = (measured: number, [low, value, high]: readonly [number, number, number]): object => {
    const predicted = { low: { p50_ms: low }, value: { p50_ms: value }, high: { p50_ms: high }, reason: null };
    const row = { ended: 'complete', failed: 0, invalid: null, reason: null, p50_ms: measured, p99_ms: 1 };
    return { model: 'net', offered_per_second: 1, measured: row, predicted };
  };
  const rows = [rowOf(10, [9, 11, 12]), rowOf(20, [14, 15, 16])];
  const validated = (text: string) => text.split('\n').filter((line) => line.startsWith('predicted '));
  assert.deepEqual(validated(notesOfRows('server', rows)), [
    'predicted p50: off by 17.5 % on average and 25.0 % at most; 1 of 2 measured values in the interval',
  ]);
  const measured = [{ passed_per_second: 100, failed_per_second: 102, chance_percent: null, stopped: null }];
  const predicted = { low_per_second: 80, value_per_second: 90, high_per_second: 105, reason: null };
  assert.deepEqual(validated(notesOfRows('server', rows, { rates: [{ model: 'net', measured, predicted }] })), [
    'predicted largest rate: off by 10.0 %; 1 of 1 measured value in the interval',
  ]);
});

test('a result of a deployment names it, and the system only for predictions', () => {
  const settings = { scenario: 'server', bound: null, seed: 1, deployment: 'oip://x:1/net' };
  const notes = (predicted: object | null) => {
    const row = { model: 'net', offered_per_second: 1, measured: null, predicted };
    return notesOfRows('server', [row], { settings });
  };
  assert.equal(notes(null), 'oip://x:1/net; seed 1');
  assert.match(
    notes({ value: {}, low: {}, reason: null }),
    /predictions contain the runs of the model on this system \(P, /,
  );
});
