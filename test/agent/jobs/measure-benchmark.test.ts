import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MeasureProgress } from '../../../src/agent/benchmark-agent.js';
import { measureBenchmark } from '../../../src/agent/jobs/measure-benchmark.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import type { TraceLevel } from '../../../src/tracing/trace-level.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { type Setup, setupOf } from '../support/measure-one.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

interface Machine {
  /** Duration of each run; the last value repeats. */
  readonly runMs: readonly number[];
  readonly openMs?: number;
  readonly settleMs?: number;
  readonly reportMs?: number;
  readonly failingRun?: number;
  /**
   * Results of the probes: before the first timed run, after each timed run, and every 10 ms of waiting. Above 1 the
   * core is shared. The last value repeats.
   */
  readonly probes?: readonly number[];
  /** Time that may be lost to a shared core. */
  readonly patienceMs?: number;
  readonly threads?: number;
  /** Pages that each run reads from the disk. */
  readonly faultsOfRun?: number;
  readonly level?: TraceLevel;
  /** Of a whole model. */
  readonly name?: string;
}

/** Measures on a machine whose clock advances only while the machine works. */
async function measureOn(machine: Machine, changes: Partial<Setup> = {}) {
  const {
    runMs,
    openMs = 0,
    settleMs = 0,
    reportMs = 0,
    failingRun,
    probes = [1],
    patienceMs = Infinity,
    threads = 1,
    faultsOfRun = 0,
    level = 'NO_TRACE',
    name,
  } = machine;
  let probed = 0;
  let sharedMs = 0;
  let nowMs = 1000;
  let runs = 0;
  let closed = 0;
  const reports: MeasureProgress[] = [];
  const probe = (): number => probes[Math.min(probed++, probes.length - 1)] ?? 0;
  const later = (ms: number): Promise<void> => {
    nowMs += ms;
    return Promise.resolve();
  };
  const execute = (): Promise<void> => {
    if (runs === failingRun) return Promise.reject(new Error('node relu failed'));
    return later(runMs[Math.min(runs++, runMs.length - 1)] ?? 0);
  };
  const predictor = fakePredictor({ execute });
  const recorder = new SpanRecorder(level);
  const context = fakeContext({
    predictor: {
      ...predictor,
      async open(source, options) {
        await later(openMs);
        const model = await predictor.open(source, options);
        return { ...model, close: () => Promise.resolve(void closed++) };
      },
    },
    nowNs: () => BigInt(Math.round(nowMs * 1e6)),
    settle: () => later(settleMs),
    majorFaults: () => faultsOfRun * runs,
    coreProbe: {
      take: () => Promise.resolve(probe()),
      isShared: (ns) => ns > 1,
      count: (ms, isShared) => void (sharedMs += isShared ? ms : 0),
      get isPatient() {
        return sharedMs < patienceMs;
      },
      async untilAlone(_threads, probeNs) {
        let last = probeNs;
        while (last > 1 && sharedMs < patienceMs) {
          await later(10);
          sharedMs += 10;
          last = probe();
        }
        return last;
      },
    },
    recorder,
    onProgress(progress) {
      reports.push(progress);
      return later(reportMs);
    },
  });
  const setup = { runOptions: { ...runOptions, threads }, ...setupOf({ ...protocol, ...changes }) };
  const job = { kind: 'measure', benchmark: relu, name, ...setup } as const;
  const measured = await measureBenchmark(job, context);
  return { measured, reports, closed: () => closed, spans: recorder.take() };
}

describe('measuring', () => {
  test('warm-up runs and timed runs are kept apart, each in order', async () => {
    const { measured } = await measureOn({ runMs: [9, 8, 3, 1, 2] }, { warmupRuns: 2, runs: 3 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [9, 8], runMs: [3, 1, 2] });
    assert.equal(measured.peakMemoryBytes, 1);
  });

  test('a short model warms up for 10 ms, and only the warm-up runs that were asked for are kept', async () => {
    const runMs = [0.2, 0.1, ...Array<number>(97).fill(0.1), 5, 6, 7];
    const { measured } = await measureOn({ runMs }, { warmupRuns: 2, runs: 2 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [0.2, 0.1], runMs: [6, 7] });
  });

  test('a warm-up that has taken 10 ms is enough', async () => {
    const { measured } = await measureOn({ runMs: [4, 6, 1, 2, 3] }, { warmupRuns: 2, runs: 2 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [4, 6], runMs: [1, 2] });
  });

  test('a warm-up has a thousand further runs at most, also on a clock that does not advance', async () => {
    const runMs = [...Array<number>(2 + 1000).fill(0), 5, 6, 7];
    const { measured } = await measureOn({ runMs }, { warmupRuns: 2, runs: 2 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [0, 0], runMs: [5, 6] });
  });

  test('without warm-up runs, the first run counts', async () => {
    const { measured } = await measureOn({ runMs: [0.2, 0.1] }, { warmupRuns: 0, runs: 2 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [0.2, 0.1] });
  });

  test('time between runs counts in the cost and not in the latency', async () => {
    const machine: Machine = { runMs: [20], openMs: 7, settleMs: 100, reportMs: 1000 };
    const { measured } = await measureOn(machine, { warmupRuns: 1, runs: 1 });

    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [20], runMs: [20] });
    // Two runs, each settled before; reports: preparing, running, running before the second, done.
    assert.equal(measured.costMs, 7 + 2 * (20 + 100) + 4 * 1000);
  });

  test('the time to create the session is stated separately, with the report before it', async () => {
    const { measured } = await measureOn({ runMs: [2], openMs: 7 });
    assert.equal(measured.sessionMs, 7);
  });

  test('no run starts when the time budget is used up', async () => {
    const { measured } = await measureOn({ runMs: [10] }, { warmupRuns: 5, runs: 100, minRuns: 1, timeBudgetMs: 25 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: Array(5).fill(10), runMs: Array(3).fill(10) });
  });

  test('the minimum number of runs is made even beyond the time budget', async () => {
    const { measured } = await measureOn({ runMs: [10] }, { warmupRuns: 0, runs: 100, minRuns: 4, timeBudgetMs: 1 });
    assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: Array(4).fill(10) });
  });

  test('pages that are read from the disk count during the timed runs, and not before them', async () => {
    const { measured } = await measureOn({ runMs: [1], faultsOfRun: 2 }, { warmupRuns: 3, runs: 4 });
    assert.equal(measured.conditions?.majorFaults, 8);
  });

  describe('on a core that another machine shares at times', () => {
    const plan = { warmupRuns: 0, runs: 4, minRuns: 2, timeBudgetMs: 1000 };

    test('a run before a slow probe does not count, and another run replaces it when the core is free again', async () => {
      // Probes: one before the first run, one after each run, and two while nothing runs after the slow probe.
      const { measured } = await measureOn({ runMs: [1, 2, 3, 4, 5, 6, 7], probes: [1, 1, 5, 5, 1, 1] }, plan);
      assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [1, 3, 4, 5] });
      assert.deepEqual(measured.conditions, { wallMs: 1, cores: 1, droppedRuns: 1, sharedShare: 0, majorFaults: 0 });
      // Five runs, and 20 ms of waiting.
      assert.equal(measured.costMs, 15 + 20);
    });

    test('nothing runs while the core is shared from the start, until patience ends', async () => {
      const free = await measureOn({ runMs: [1], probes: [9, 9, 9, 1] }, plan);
      assert.deepEqual([free.measured.conditions?.droppedRuns, free.measured.costMs], [0, 4 + 30]);
      const never = await measureOn({ runMs: [1], probes: [9], patienceMs: 100 }, plan);
      assert.deepEqual([never.measured.conditions?.sharedShare, never.measured.costMs], [1, 4 + 100]);
    });

    test('the latency of a run does not decide whether it counts', async () => {
      const { measured } = await measureOn({ runMs: [1, 90, 1, 1] }, plan);
      assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [1, 90, 1, 1] });
    });

    // MAX_RUNS_PER_RUN: four times four runs.
    test('after four times as many runs, the least slowed runs count, and the conditions say so', async () => {
      // The core is free before each run, and another machine shares it during each run but the eighth.
      const after = [9, 9, 9, 3, 9, 9, 9, 1, ...Array<number>(8).fill(9)];
      const probes = [1, ...after.flatMap((probe) => (probe > 1 ? [probe, 1] : [probe]))];
      const runMs = [...Array(20).keys()].map((run) => run + 1);
      const { measured, reports } = await measureOn({ runMs, probes }, plan);
      assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [1, 2, 4, 8] });
      assert.deepEqual(measured.conditions, {
        wallMs: 1,
        cores: 1,
        droppedRuns: 12,
        sharedShare: 0.75,
        majorFaults: 0,
      });
      assert.deepEqual(reports.at(-1), { phase: 'running', runsDone: 4, runsTotal: 4 });
    });

    test('all runs count again once too much time is lost to dropped runs', async () => {
      const { measured } = await measureOn({ runMs: [500], probes: [9], patienceMs: 900 }, plan);
      // The time budget is a second.
      assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [500, 500] });
      assert.deepEqual(measured.conditions, { wallMs: 1, cores: 1, droppedRuns: 0, sharedShare: 1, majorFaults: 0 });
    });

    // PROBE_EVERY_MS: a tenth of a second, since the runtime's threads have to become idle before.
    test('with several threads, a probe follows a group of runs, which count or do not count together', async () => {
      const runMs = [30, 31, 32, 33, 34, 35, 36, 37, 38, 39];
      const { measured } = await measureOn({ runMs, probes: [1, 5, 1, 1], threads: 2 }, plan);
      // Groups: 30 to 33, 34 to 36, 37. The first one is before the slow probe.
      assert.deepEqual(measured.outcome, { kind: 'samples', warmupMs: [], runMs: [34, 35, 36, 37] });
      assert.deepEqual(measured.conditions, { wallMs: 1, cores: 1, droppedRuns: 4, sharedShare: 0, majorFaults: 0 });
    });
  });

  test('with several threads, a group of runs ends when the time budget is used up', async () => {
    const { measured } = await measureOn(
      { runMs: [30], threads: 2 },
      { warmupRuns: 0, runs: 10, minRuns: 2, timeBudgetMs: 50 },
    );
    assert.equal(measured.costMs, 60);
  });

  test('progress is reported at the start, rarely in between, and at the end', async () => {
    const { reports } = await measureOn({ runMs: [60] }, { warmupRuns: 1, runs: 9 });
    assert.deepEqual(reports, [
      { phase: 'preparing', runsDone: 0, runsTotal: 10 },
      { phase: 'running', runsDone: 0, runsTotal: 10 },
      { phase: 'running', runsDone: 4, runsTotal: 10 },
      { phase: 'running', runsDone: 8, runsTotal: 10 },
      { phase: 'running', runsDone: 10, runsTotal: 10 },
    ]);
  });

  test('a trace distinguishes runs of a brick from those of a whole model', async () => {
    const bricksOf = async (name?: string): Promise<unknown> => {
      const { spans } = await measureOn({ runMs: [1], level: 'MODEL_TRACE', ...(name !== undefined && { name }) });
      assert.equal(spans[0]?.name, 'load_model');
      const [run] = spans.find((span) => span.name === 'evaluate')?.children ?? [];
      return run?.attributes['bricks'];
    };
    assert.deepEqual([await bricksOf(), await bricksOf('resnet18')], [1, undefined]);
  });

  test('a run that fails is a failed measurement, and the session is closed', async () => {
    const { measured, closed } = await measureOn({ runMs: [1], failingRun: 3 });
    assert.deepEqual(measured.outcome, { kind: 'failure', reason: 'run_failed', message: 'node relu failed' });
    assert.equal(closed(), 1);
  });

  test('a machine that fails is no result of the benchmark', async () => {
    const open = () => Promise.reject(new Error('No space left on device'));
    const context = fakeContext({ predictor: { ...fakePredictor({}), open } });
    const job = { kind: 'measure', benchmark: relu, runOptions, ...setupOf(protocol) } as const;
    await assert.rejects(measureBenchmark(job, context), { code: 'storage' });
  });

  test('a model whose inputs cannot be prepared is closed', async () => {
    let closed = 0;
    const prepare = (): never => {
      throw new Error('no such input');
    };
    const open = () => Promise.resolve({ prepare, close: () => Promise.resolve(void closed++) });
    const context = fakeContext({ predictor: { ...fakePredictor({}), open } });
    const job = { kind: 'measure', benchmark: relu, runOptions, ...setupOf(protocol) } as const;
    const { outcome } = await measureBenchmark(job, context);
    assert.equal(outcome.kind === 'failure' && outcome.message, 'no such input');
    assert.equal(closed, 1);
  });

  test('a benchmark that cannot fit into memory is not tried', async () => {
    const { measured, closed } = await measureOn({ runMs: [1] }, { memoryLimitBytes: 10 });
    assert.equal(measured.outcome.kind === 'failure' && measured.outcome.reason, 'out_of_memory');
    assert.equal(closed(), 0);
  });
});
