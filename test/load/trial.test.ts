import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_BATCHING } from '../../src/load/batcher.js';
import { type LoadClock, VirtualClock } from '../../src/load/clock.js';
import { nearestRank } from '../../src/load/percentiles.js';
import { simulatedTarget, simulateTrial } from '../../src/load/simulate.js';
import { summarizeTrial } from '../../src/load/summary.js';
import {
  type Answer,
  type QueryRecord,
  type Target,
  Trial,
  type TrialOptions,
  type TrialOutcome,
} from '../../src/load/trial.js';
import { CONSTANT, poissonTrial, summarized } from './support.js';

const regular = (count: number, everyMs: number) =>
  Array.from({ length: count }, (_, query) => ({ atMs: query * everyMs, samples: 1 }));

/** 1 ms, but nothing is done for a second from the time on. */
const stallAt = (atMs: number) => ({
  runMs: (_: number, startMs: number) => (startMs >= atMs && startMs < atMs + 1 ? 1001 : 1),
});

const OPEN = { dispatch: 'turns', seed: 1, limit: 1 } as const;

/** Runs a trial to its end. @param generator the clock as the generator sees it */
function runTrial(options: TrialOptions, target: Target, clock: VirtualClock, generator: LoadClock = clock) {
  const records: QueryRecord[] = [];
  let outcome: TrialOutcome | undefined;
  new Trial(
    options,
    [target],
    generator,
    (one) => records.push(one),
    (end) => (outcome = end),
  ).start();
  clock.run();
  assert.ok(outcome);
  return { records, outcome };
}

function percentilesOf(records: readonly QueryRecord[]): readonly number[] {
  const sorted = Float64Array.from(records, ({ scheduledMs, finishedMs }) => finishedMs - scheduledMs).sort();
  return [0.99, 0.999, 1].map((share) => nearestRank(sorted, share));
}

test('a stall of a second is seen by all queries that it keeps waiting', () => {
  // Queries each 10 ms with a service of 1 ms: 110 of them are late. The figures follow from the recurrence of the wait.
  const plan = { kind: 'open', arrivals: regular(10_000, 10) } as const;
  const { records } = simulateTrial({ ...OPEN, plan }, NO_BATCHING, [stallAt(50_000)]);
  const [p99 = 0, p999 = 0, largest = 0] = percentilesOf(records);
  assert.ok(Math.abs(p99 - 101) <= 10, `p99 ${p99}`);
  assert.ok(Math.abs(p999 - 911) <= 10, `p99.9 ${p999}`);
  assert.equal(Math.round(largest), 1001);
  const shorter = { kind: 'open', arrivals: regular(5000, 10) } as const;
  const [ofShorter = 0] = percentilesOf(
    simulateTrial({ ...OPEN, plan: shorter }, NO_BATCHING, [stallAt(25_000)]).records,
  );
  assert.ok(Math.abs(ofShorter - 551) <= 10, `p99 ${ofShorter}`);
});

test('a closed loop hides the same stall', () => {
  const plan = { kind: 'closed', clients: 1, thinkMs: [9], samples: 1, queries: 10_000, leastMs: 0 } as const;
  const { records } = simulateTrial({ ...OPEN, plan }, NO_BATCHING, [stallAt(50_000)]);
  const [p99 = 0, , largest = 0] = percentilesOf(records);
  assert.equal(Math.round(p99), 1);
  assert.equal(Math.round(largest), 1001);
});

test('a generator that is stalled itself gives no result', () => {
  const clock = new VirtualClock();
  const stalled = {
    now: () => clock.now(),
    // Nothing happens in the generator from 1000 ms to 1050 ms.
    at: (ms: number, call: () => void) => clock.at(ms >= 1000 && ms < 1050 ? 1050 : ms, call),
  };
  const plan = { kind: 'open', arrivals: regular(2000, 1.5) } as const;
  const target = simulatedTarget(clock, NO_BATCHING, CONSTANT);
  const { records, outcome } = runTrial({ ...OPEN, plan }, target, clock, stalled);
  const summary = summarizeTrial(records, outcome, { bound: { ms: 20, share: 0.99 }, servers: 1, isOpen: true });
  assert.match(summary.invalid ?? '', /the generator sent 1 % of the queries more than .* late/);
  assert.deepEqual([summary.holds, summary.samplesPerSecond], [null, null]);
  assert.deepEqual(new Set(summary.percentilesMs), new Set([null]));
});

test('overload ends early, with a bounded queue and its length in the message', () => {
  const without = poissonTrial(2, 1_000_000, 1);
  assert.equal(without.end.kind, 'cut');
  assert.match(without.end.kind === 'cut' ? without.end.reason : '', /the queue is longer than 1000 queries/);
  assert.ok(without.longestQueue <= 1001);
  const bound = { ms: 10, share: 0.99 };
  const within = poissonTrial(2, 1_000_000, 1, CONSTANT, bound);
  assert.match(within.end.kind === 'cut' ? within.end.reason : '', /queue is longer than 81 queries/);
  assert.equal(summarized(within, bound).holds, false);
  assert.equal(summarized(within, bound).percentilesMs[0], null);
});

test('a trial is cut off when the bound cannot hold any more', () => {
  const bound = { ms: 0.5, share: 0.99 };
  const trial = poissonTrial(0.1, 2010, 1, CONSTANT, bound);
  assert.match(
    trial.end.kind === 'cut' ? trial.end.reason : '',
    /^11 queries are over the bound of 2010 planned queries; the bound allows 10$/,
  );
});

test('a query without an answer counts as over the bound before it is answered', () => {
  const bound = { ms: 20, share: 0.99 };
  const plan = { kind: 'open', arrivals: regular(100, 10) } as const;
  const outcome = simulateTrial({ ...OPEN, plan, bound }, NO_BATCHING, [{ runMs: () => 1e9 }]);
  assert.equal(outcome.records.length, 0);
  assert.equal(outcome.end.kind, 'cut');
});

test('queries that a trial leaves without an answer are known, also where none was answered', () => {
  const plan = { kind: 'open', arrivals: regular(1000, 10) } as const;
  const bound = { ms: 20, share: 0.99 };
  const outcome = simulateTrial({ ...OPEN, plan, bound }, NO_BATCHING, [{ runMs: () => 1e9 }]);
  assert.deepEqual(outcome.unanswered.slice(0, 2), [
    { scheduledMs: 0, sentMs: 0, samples: 1 },
    { scheduledMs: 10, sentMs: 10, samples: 1 },
  ]);
  const within = summarizeTrial(outcome.records, outcome, { bound, servers: 1, isOpen: true });
  assert.deepEqual([within.invalid, within.holds, within.latenessP99Ms], [null, false, 0]);
  // The generator's own lateness counts for them, too.
  const late = outcome.unanswered.map((query) => ({ ...query, sentMs: query.scheduledMs + 5 }));
  const ofLate = summarizeTrial([], { ...outcome, unanswered: late }, { bound, servers: 1, isOpen: true });
  assert.match(ofLate.invalid ?? '', /more than 5 ms late/);
});

test('an answer that comes late, to a query that was answered within the bound, is not over it', () => {
  const clock = new VirtualClock();
  // Runs take 8 ms, and the message about them 5 ms.
  const target = simulatedTarget(clock, NO_BATCHING, { runMs: () => 8, returnMs: 5 });
  const plan = { kind: 'open', arrivals: regular(1000, 12) } as const;
  const { records, outcome } = runTrial({ ...OPEN, plan, bound: { ms: 10, share: 0.99 } }, target, clock);
  assert.deepEqual([outcome.end.kind, outcome.over, records.length], ['complete', 0, 1000]);
});

test('a trial whose queries all fail has no result, and the error of the first one', () => {
  const clock = new VirtualClock();
  const target = {
    send: (_: number, answered: (answer: Answer) => void) =>
      answered({ startedMs: null, finishedMs: clock.now(), batch: null, error: 'out of memory' }),
  };
  const plan = { kind: 'open', arrivals: regular(10, 10) } as const;
  const { records, outcome } = runTrial({ ...OPEN, plan }, target, clock);
  const { failed, failure, invalid } = summarizeTrial(records, outcome, { bound: undefined, servers: 1, isOpen: true });
  assert.deepEqual([failed, failure, invalid], [10, 'out of memory', 'no query was answered']);
});

test('a run may take longer than a minute', () => {
  const arrivals = regular(2, 100_000);
  const trial = simulateTrial({ ...OPEN, plan: { kind: 'open', arrivals } }, NO_BATCHING, [{ runMs: () => 90_000 }]);
  assert.deepEqual([trial.end.kind, trial.records.length], ['complete', 2]);
});

test('a server that ends makes the trial fail with its reason', () => {
  const clock = new VirtualClock();
  const target = {
    send: (_: number, answered: (answer: never) => void) =>
      answered({ startedMs: null, finishedMs: 1, batch: null, error: 'gone', isLast: true } as never),
  };
  const plan = { kind: 'open', arrivals: regular(10, 10) } as const;
  const { outcome } = runTrial({ ...OPEN, plan }, target, clock);
  assert.deepEqual(outcome.end, { kind: 'failed', reason: 'gone' });
});

test('a client of a closed loop waits after failures, the longer the more there are in a row', () => {
  const clock = new VirtualClock();
  let sent = 0;
  // Away for two seconds, then back, and away for one query.
  const target = {
    send: (_: number, answered: (answer: Answer) => void) => {
      const isAway = clock.now() < 2000 || ++sent === 5;
      const answer = { startedMs: null, finishedMs: clock.now() + 1, batch: null, ...(isAway && { error: 'away' }) };
      clock.at(clock.now() + 1, () => answered(answer));
    },
  };
  const plan = { kind: 'closed', clients: 1, thinkMs: [20], samples: 1, queries: 50, leastMs: 0 } as const;
  const { records, outcome } = runTrial({ ...OPEN, plan }, target, clock);
  assert.equal(outcome.end.kind, 'complete');
  const pauses = records.map(({ finishedMs }, index) => (records[index + 1]?.scheduledMs ?? NaN) - finishedMs);
  // 10 ms are less than the think time.
  assert.deepEqual(pauses.slice(0, 8), [20, 20, 40, 80, 160, 250, 250, 250]);
  const failed = records.flatMap(({ error }, index) => (error === null ? [] : index));
  assert.ok(failed.length < 15, `${failed.length} of 50 queries were spent while the server was away`);
  assert.equal(pauses[failed.at(-1) ?? 0], 20);
});

test('a trial of clients that think ends after its least length, and after a million queries', () => {
  const plan = { kind: 'closed', clients: 1, thinkMs: [500], samples: 1, queries: 2, leastMs: 1200 } as const;
  // Queries at 0, 501, 1002 and 1503 ms.
  const { end, records } = simulateTrial({ ...OPEN, plan }, NO_BATCHING, [CONSTANT]);
  assert.deepEqual([end.kind, records.length], ['complete', 4]);
  const fast = { ...plan, thinkMs: [0], leastMs: 1e9 };
  assert.equal(simulateTrial({ ...OPEN, plan: fast }, NO_BATCHING, [CONSTANT]).planned, 1_000_000);
});

test('clients send their next query after the answer and the think time', () => {
  const plan = { kind: 'closed', clients: 3, thinkMs: [2], samples: 1, queries: 3000, leastMs: 0 } as const;
  const trial = simulateTrial({ ...OPEN, plan }, NO_BATCHING, [CONSTANT]);
  const summary = summarizeTrial(trial.records, trial, { bound: undefined, servers: 1, isOpen: false });
  // X <= min(1 / s, k / (s + z)); with constant service, both are reached at k = 3, s = 1, z = 2.
  assert.ok(Math.abs((summary.achievedPerSecond ?? 0) - 1000) < 5, `${summary.achievedPerSecond}`);
  assert.ok(trial.longestQueue <= 3);
  assert.ok((summary.upperMs[3] ?? 0) >= (summary.percentilesMs[3] ?? Infinity));
});

test('utilization is the busy time of each server from the first to the last answer', () => {
  const utilization = (runsMs: readonly number[], everyMs: number, servers = 1, limit = 1): number => {
    const plan = { kind: 'open', arrivals: regular(runsMs.length, everyMs) } as const;
    const left = [...runsMs];
    const service = { runMs: () => left.shift() ?? NaN };
    const trial = simulateTrial({ ...OPEN, plan, limit }, { limit, waitMs: 0 }, Array(servers).fill(service));
    const summary = summarizeTrial(trial.records, trial, { bound: undefined, servers, isOpen: true });
    return summary.utilization ?? NaN;
  };
  // The first run is long, and ends where the time begins.
  assert.equal(utilization([100, 10], 0), 1);
  // Answers after 10, 30 and 50 ms: two runs of 10 ms in 40 ms.
  assert.equal(utilization([10, 10, 10], 20), 0.5);
  // Two servers: from 10 to 30 ms, one runs for 10 ms and the other for 20 ms.
  assert.equal(utilization([10, 30, 10], 0, 2), 0.75);
  // The second run has two of the three queries.
  assert.equal(utilization([10, 10, 10], 5, 1, 2), 1);
});

test("Little's law compares the moments that a server states with those at which answers come", () => {
  const errorOf = (aheadMs: number, returnMs = 0): number => {
    const clock = new VirtualClock();
    const server = simulatedTarget(clock, NO_BATCHING, { runMs: () => 8, returnMs });
    const target: Target = {
      send: (samples, answered) =>
        server.send(samples, (answer) => answered({ ...answer, finishedMs: answer.finishedMs + aheadMs })),
    };
    const plan = { kind: 'open', arrivals: regular(100, 10) } as const;
    const { records, outcome } = runTrial({ ...OPEN, plan }, target, clock);
    const { littleError } = summarizeTrial(records, outcome, { bound: undefined, servers: 1, isOpen: true });
    return Number(littleError?.toFixed(6));
  };
  assert.deepEqual([errorOf(0), errorOf(2), errorOf(-4), errorOf(0, 2)], [0, -0.2, 1, 0.25]);
});

test('a server whose clock moves by more than the generator may be late gives no result', () => {
  const plan = { kind: 'open', arrivals: regular(1000, 10) } as const;
  const trial = simulateTrial({ ...OPEN, plan }, NO_BATCHING, [CONSTANT]);
  const reasonOf = (clockDriftMs: number | undefined, ms?: number): string | null => {
    const bound = ms === undefined ? undefined : { ms, share: 0.9 };
    return summarizeTrial(trial.records, { ...trial, clockDriftMs }, { bound, servers: 1, isOpen: true }).invalid;
  };
  assert.match(
    reasonOf(-0.06) ?? '',
    /clock moved by 0\.06 ms .*0\.05 ms \(5 % of the median latency\) is the limit; synchronize/,
  );
  assert.match(reasonOf(1.1, 20) ?? '', /and 1 ms \(5 % of the bound\) is the limit/);
  assert.deepEqual([reasonOf(-0.04), reasonOf(0.9, 20), reasonOf(undefined)], [null, null, null]);
  const closed = { bound: undefined, servers: 1, isOpen: false };
  const { percentilesMs, upperMs } = summarizeTrial(trial.records, { ...trial, clockDriftMs: 5 }, closed);
  assert.deepEqual(new Set([...percentilesMs, ...upperMs]), new Set([null]));
});

test('a long queue ends a trial before an agent refuses to hold more queries', () => {
  const bound = { ms: 3_600_000, share: 0.99 };
  const { end } = poissonTrial(100, 300_000, 1, CONSTANT, bound);
  assert.deepEqual(end, { kind: 'cut', reason: 'the queue is longer than 99999 queries' });
});

test('a closed loop holds a bound or not by early stopping, and too few queries do not show it', () => {
  const holds = (boundMs: number, queries: number): boolean | null => {
    const bound = { ms: boundMs, share: 0.9 };
    const plan = { kind: 'closed', clients: 1, thinkMs: [0], samples: 1, queries, leastMs: 0 } as const;
    const trial = simulateTrial({ ...OPEN, plan, bound }, NO_BATCHING, [CONSTANT]);
    return summarizeTrial(trial.records, trial, { bound, servers: 1, isOpen: false }).holds;
  };
  assert.deepEqual([holds(2, 44), holds(0.5, 44), holds(2, 43)], [true, false, null]);
});
