import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import type { MeasureProgress } from '../../../src/agent/benchmark-agent.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import type { Outcome } from '../../../src/measurement/measurement.js';
import { measuringProcessesOf, needsLinux } from '../support/processes.js';
import { agentForSuite } from '../support/running-agent.js';
import {
  benchmarkOf,
  convolution,
  endless,
  failingReshape,
  int64Constant,
  longProtocol,
  matMul,
  protocol,
  relu,
  runOptions,
  unknownOperator,
} from '../support/tiny-benchmarks.js';
import { measureOne, type Setup } from '../support/measure-one.js';

/** Far longer than any of these tests takes, so that only a test that hangs fails. */
const timeout = 60_000;

describe('measuring over gRPC in a process of its own', { timeout: 5 * timeout }, () => {
  const agent = agentForSuite();

  async function outcomeOf(benchmark: Benchmark, how: Setup = protocol): Promise<Outcome> {
    return (await measureOne(agent().client, benchmark, runOptions, how)).outcome;
  }

  async function failureOf(benchmark: Benchmark, how?: Setup) {
    const outcome = await outcomeOf(benchmark, how);
    assert.ok(outcome.kind === 'failure');
    return outcome;
  }

  /** Starts a measurement that continues until it is stopped, and calls `whenRunning` once it runs. */
  function measureLong(whenRunning: () => void, signal?: AbortSignal) {
    let running = false;
    return measureOne(agent().client, relu, runOptions, longProtocol, {
      signal,
      onProgress({ phase }) {
        if (phase === 'running' && !running) {
          running = true;
          whenRunning();
        }
      },
    });
  }

  // The agent continues after each of these tests.
  afterEach(async () => {
    assert.equal((await outcomeOf(matMul)).kind, 'samples');
  });

  for (const [name, benchmark] of Object.entries({ relu, matMul, convolution })) {
    test(`${name} runs`, async () => {
      assert.equal((await outcomeOf(benchmark)).kind, 'samples');
    });
  }

  test('an operator that the runtime does not have is unsupported, with the runtime’s message', async () => {
    const failure = await failureOf(unknownOperator);
    assert.equal(failure.reason, 'unsupported');
    assert.match(failure.message, /NoSuchOperator/);
  });

  test('a node that fails while it runs is a failed run, and the message names the node', async () => {
    const failure = await failureOf(failingReshape);
    assert.equal(failure.reason, 'run_failed');
    assert.match(failure.message, /the_reshape/);
  });

  test('an input of another type than the graph’s is a failed run, with the runtime’s message', async () => {
    const inputs = relu.inputs.map((input) => ({ ...input, elementType: 'string' as const }));
    const failure = await failureOf({ ...relu, inputs });
    assert.equal(failure.reason, 'run_failed');
    assert.match(failure.message, /tensor\(string\)/);
  });

  test('weights beyond the memory limit are out of memory', async () => {
    const inputs = matMul.inputs.map((input) => ({ ...input, dims: [1_000_000, 1_000_000] }));
    assert.equal((await failureOf({ ...matMul, inputs })).reason, 'out_of_memory');
  });

  test('a value that the runtime cannot allocate is out of memory', async () => {
    const huge = benchmarkOf({
      inputs: { x: { dims: [1] } },
      nodes: [
        { opType: 'Expand', inputs: ['x', 'shape'], outputs: ['large'] },
        { opType: 'ReduceSum', inputs: ['large'], outputs: ['y'] },
      ],
      outputs: ['y'],
      constants: { shape: int64Constant([2], [1_000_000, 100_000_000]) },
    });
    assert.equal((await failureOf(huge)).reason, 'out_of_memory');
  });

  test('more resident memory than allowed is out of memory', { skip: needsLinux }, async () => {
    // Less memory than Node itself takes.
    const failure = await failureOf(endless, { ...protocol, memoryLimitBytes: 50e6 });
    assert.equal(failure.reason, 'out_of_memory');
    assert.match(failure.message, /limit is 0.05 GB/);
  });

  test('a measurement beyond its time limit is timed out, even within one run', async () => {
    const failure = await failureOf(endless, { ...protocol, timeLimitMs: 1500 });
    assert.equal(failure.reason, 'timeout');
    assert.match(failure.message, /1.5 s/);
  });

  test('a process that is killed is a crash', { skip: needsLinux }, async () => {
    const measuring = measureLong(() => {
      for (const pid of measuringProcessesOf(process.pid)) process.kill(pid, 'SIGKILL');
    });
    const { outcome } = await measuring;
    assert.equal(outcome.kind === 'failure' && outcome.reason, 'crashed');
  });

  test('a failed measurement states its cost', { skip: needsLinux }, async () => {
    const how = { ...protocol, timeLimitMs: 3_000 };
    const { costMs, sessionMs, peakMemoryBytes } = await measureOne(agent().client, endless, runOptions, how);
    assert.ok(costMs >= 3_000 && sessionMs > 0 && sessionMs <= costMs && peakMemoryBytes > 1e6);
  });

  test('a cancelled measurement stops, and its process with it', { skip: needsLinux }, async () => {
    const controller = new AbortController();
    let pids: readonly number[] = [];
    const measuring = measureLong(() => {
      pids = measuringProcessesOf(process.pid);
      controller.abort();
    }, controller.signal);

    await assertRefused(measuring, 'cancelled');
    // The next measurement only starts when the process has ended.
    await outcomeOf(relu);
    assert.equal(pids.length, 1);
    assert.ok(!measuringProcessesOf(process.pid).includes(pids[0] ?? 0));
  });

  test('two clients take turns', async () => {
    const second = await connectAgent(agent().address);
    const controller = new AbortController();
    const reports: MeasureProgress[] = [];
    try {
      let measuringSecond: Promise<unknown> | undefined;
      const measuringFirst = measureLong(() => {
        measuringSecond = measureOne(second, relu, runOptions, protocol, {
          onProgress(progress) {
            reports.push(progress);
            if (progress.phase === 'waiting') controller.abort();
          },
        });
      }, controller.signal);
      await assertRefused(measuringFirst, 'cancelled');
      await measuringSecond;
    } finally {
      await second.close();
    }

    assert.deepEqual([...new Set(reports.map(({ phase }) => phase))], ['waiting', 'preparing', 'running']);
  });

  test('a client that is cancelled while it waits leaves the queue', async () => {
    const first = new AbortController();
    const second = new AbortController();
    let waiting: Promise<unknown> | undefined;
    const measuring = measureLong(() => {
      waiting = measureOne(agent().client, relu, runOptions, protocol, {
        signal: second.signal,
        onProgress: () => second.abort(),
      });
      waiting.catch(() => first.abort());
    }, first.signal);

    await assertRefused(measuring, 'cancelled');
    await assertRefused(waiting ?? Promise.resolve(), 'cancelled');
  });
});
