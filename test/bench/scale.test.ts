import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { requestsOf, totalWaitMs, waitMsOf } from '../../bench/scale/bricks.js';
import { scaleDocument } from '../../bench/scale/document.js';
import { storeBytesOf, loadsOf, ratesOf } from '../../bench/scale/extrapolate.js';
import { medianOf, overheadOf, type RunFigures, runFiguresOf } from '../../bench/scale/figures.js';
import { kilobytesIn, processesBelow, readStat, processRoleOf } from '../../bench/scale/processes.js';
import type { Recorded, RecordedSizes } from '../../bench/scale/recorded.js';
import { keyBytesOf } from '../../bench/scale/store-size.js';
import { waitingAgent } from '../../bench/scale/waiting-agent.js';
import type { WaitedItem } from '../../bench/scale/agent-messages.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { assertRefused } from '../rpc/support/refusal.js';

const MB = 1e6;

/** Two runs of two agents: one takes 11 s and one 13 s, where 10 s are ideal. */
const RUNS: readonly RunFigures[] = [11_000, 13_000].map((wallMs) =>
  runFiguresOf({
    bricks: 1000,
    idealMs: 10_000,
    wallMs,
    items: [
      { bricks: 500, waitedMs: 5000, gapMs: undefined, toldMs: 5400 },
      { bricks: 500, waitedMs: 5000, gapMs: 20, toldMs: 10_420 },
    ],
    processes: [
      { pid: 1, role: 'plugin', cpuMs: 2000, peakBytes: 150 * MB, shareBytes: 100 * MB },
      { pid: 2, role: 'agent', cpuMs: 300, peakBytes: 90 * MB, shareBytes: 40 * MB },
      { pid: 3, role: 'agent', cpuMs: 500, peakBytes: 110 * MB, shareBytes: 60 * MB },
      { pid: 4, role: 'broker', cpuMs: 500, peakBytes: 120 * MB, shareBytes: 110 * MB },
    ],
  }),
);

const RECORDED: Recorded = {
  date: '2026-11-23',
  machine: '2 cores of a machine',
  database: 'Some database 1.0',
  agents: 2,
  servers: 1,
  brickMs: 20,
  runs: [...RUNS],
};

const SIZES: RecordedSizes = {
  date: '2026-11-23',
  database: 'Some database 1.0',
  sizes: [
    {
      measurements: 100,
      documentBytes: 1000,
      diskBytes: 700,
      indexes: [{ name: '_id_', keyBytes: 100, diskBytes: null }],
    },
  ],
};

describe('the bricks of the scale benchmark', () => {
  test('are different in each series, and wait for the mean on average', () => {
    const [one, other] = ['one', 'other'].map((name) => requestsOf({ name, bricks: 500 }));
    const signatures = new Set([...(one ?? []), ...(other ?? [])].map(({ benchmark }) => benchmark.signature));
    assert.equal(signatures.size, 1000);
    const waits = [...signatures].map((signature) => waitMsOf(signature, 100));
    assert.ok(waits.every((ms) => ms >= 50 && ms < 150));
    // The mean of 500 waits with a uniform distribution from 50 to 150 has a standard deviation of 1.3.
    assert.ok(Math.abs(totalWaitMs({ name: 'one', bricks: 500 }, 100) / 500 - 100) < 10);
  });

  test('make agents wait as long as the ideal time says', async () => {
    const items: WaitedItem[] = [];
    const fake = createFakeAgent({ latencyOf: () => 1 });
    const agent = waitingAgent(fake, { host: 'a', brickMs: 1, onItem: (item) => items.push(item) });
    const series = { name: 'waited', bricks: 20 };
    for (let time = 0; time < 2; time += 1) {
      const measured: number[] = [];
      for await (const { index, measurement } of agent.measure(requestsOf(series))) {
        assert.equal(measurement.signature, requestsOf(series)[index]?.benchmark.signature);
        measured.push(index);
      }
      assert.deepEqual(measured, [...measured.keys()]);
    }
    assert.deepEqual(
      items.map(({ bricks, gapMs }) => [bricks, gapMs === undefined]),
      [
        [20, true],
        [20, false],
      ],
    );
    // A timer may be a millisecond early.
    assert.ok(items.every(({ waitedMs }) => waitedMs >= totalWaitMs(series, 1) - 1.5));
    assert.deepEqual(fake.measured, []);
  });

  test('make agents wait no longer after the signal', async () => {
    const fake = createFakeAgent({ latencyOf: () => 1 });
    const agent = waitingAgent(fake, { host: 'a', brickMs: 1e6, onItem: () => assert.fail() });
    const stop = new AbortController();
    const measuring = agent.measure(requestsOf({ name: 'stopped', bricks: 2 }), { signal: stop.signal });
    const ended = assertRefused(Promise.resolve(measuring[Symbol.asyncIterator]().next()), 'cancelled');
    stop.abort();
    await ended;
  });
});

describe('the figures of the scale benchmark', () => {
  test('are medians, and sums over the processes of a role', () => {
    assert.deepEqual([medianOf([]), medianOf([3, 1, 2]), medianOf([4, 1, 2, 3])], [null, 2, 2.5]);
    const [first] = RUNS as [RunFigures, RunFigures];
    assert.ok(Math.abs(overheadOf(first) - 0.1) < 1e-9);
    assert.deepEqual([first.gapMs, first.beforeMs, first.afterMs], [20, 400, 580]);
    const agents = { processes: 2, cpuMs: 800, peakBytes: 110 * MB, shareBytes: 50 * MB };
    assert.deepEqual(first.roles['agent'], agents);
  });

  test('are read from /proc, also where a name has spaces and parentheses', () => {
    // Fields 3 to 15 of /proc/PID/stat (proc(5)): state, parent, …, utime and stime in ticks of 10 ms.
    const { parent, cpuMs } = readStat('12 (a (b) c) S 7 12 12 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 1 0');
    assert.deepEqual([parent, cpuMs], [7, 2000]);
    assert.equal(kilobytesIn('VmPeak:\t  9 kB\nVmHWM:\t  12 kB\n', 'VmHWM'), 12 * 1024);
    assert.equal(kilobytesIn('', 'VmHWM'), 0);
  });

  test('group processes by their role', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
    assert.equal(processRoleOf('node dist/bench/scale/agent.js {}'), 'agent');
    assert.equal(processRoleOf('node lib/src/bin/main.js plugin scale --of-parent'), 'plugin');
    assert.equal(processRoleOf('node lib/src/bin/main.js --plugin x serve --listen 127.0.0.1:0'), 'server');
    assert.equal(processRoleOf('/bin/sh rabbitmq-server'), undefined);
    const [own] = processesBelow(process.pid);
    assert.ok(own?.role === 'benchmark' && own.cpuMs > 0 && own.peakBytes >= own.shareBytes && own.shareBytes > 0);
  });

  test(
    'count a process that has just forked once',
    { skip: process.platform !== 'linux' && 'needs /proc' },
    async (t) => {
      // The shell forks for the parentheses, and starts no other program.
      const shell = spawn('sh', ['-c', '(echo forked; read line; :); :', 'scale/agent.js']);
      t.after(() => shell.kill('SIGKILL'));
      await once(shell.stdout, 'data');
      const agents = processesBelow(process.pid).filter(({ role }) => role === 'agent');
      assert.deepEqual(
        agents.map(({ pid }) => pid),
        [shell.pid],
      );
      shell.stdin.end();
      await once(shell, 'close');
    },
  );
});

describe('the document of the scale benchmark', () => {
  const fleet = { agents: 1000, measurements: 10_000_000, evaluationBricks: 40_000, brickMs: 20 };

  test('begins with the process that saturates first, by its processor time for a brick', () => {
    // The plugin takes 2000 ms for 1000 bricks, so that 10 agents with a brick in 20 ms each keep a core busy.
    assert.deepEqual(loadsOf(RUNS, fleet), [
      { role: 'plugin', cpuMs: 2, agentsPerCore: 10, cores: 100 },
      { role: 'broker', cpuMs: 0.5, agentsPerCore: 40, cores: 25 },
    ]);
  });

  test('has the rates of agents that never wait', () => {
    const { hours, bricksPerSecond, itemBricks, itemsPerSecond, beatsPerSecond } = ratesOf(fleet);
    assert.deepEqual([bricksPerSecond, itemBricks, itemsPerSecond, beatsPerSecond], [50_000, 20, 2_500, 500]);
    assert.ok(Math.abs(hours * 3600 - 200) < 1e-9);
  });

  test('has the items that agents get, which are never shorter than 8 bricks nor longer than 64', () => {
    // Two items for each agent of an evaluation (src/agent/client/divide-work.ts, and its test).
    const bricksOf = (evaluationBricks: number, agents: number) =>
      ratesOf({ ...fleet, evaluationBricks, agents }).itemBricks;
    assert.deepEqual([bricksOf(10_000, 1000), bricksOf(10_000, 32), bricksOf(2_500, 32)], [8, 64, 40]);
  });

  test('has the bytes of documents and of index entries', () => {
    // Two texts with a type byte and an end each, and six bytes for the entry's end and its document.
    assert.equal(keyBytesOf(['abc', 'ä']), 3 + 2 + 2 + 2 + 6);
    const [size] = SIZES.sizes as [RecordedSizes['sizes'][number]];
    assert.deepEqual(storeBytesOf(size, 10), { documents: 10_000, indexes: [{ name: '_id_', bytes: 1000 }] });
  });

  test('has the figures, and keeps the analysis that a person wrote', () => {
    const text = scaleDocument([RECORDED], [SIZES], '## Analysis\n\nBy hand.\n');
    assert.match(text, /\| longer than ideal \| 20\.0 % \(10\.0 % to 30\.0 %\) \|/);
    assert.match(text, /\| Some database 1\.0, 20 ms, 1 server \| agent \| 2 \| 110 \| 50 \| 0\.8 \|/);
    assert.match(text, /\| plugin \| 2 \| 10 \| 100 \|/);
    assert.match(text, /\| document \| 1,000 \| 700 \| 10 \|/);
    assert.match(text, /\| index `_id_` \| 100 \| - \| 1 \|/);
    assert.ok(text.endsWith('## Analysis\n\nBy hand.\n'));
    assert.match(scaleDocument([], [], ''), /## Analysis\n$/);
  });
});
