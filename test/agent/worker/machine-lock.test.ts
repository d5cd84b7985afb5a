import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RequestProgress } from '../../../src/agent/benchmark-agent.js';
import { LOCK_GROUP_VARIABLE } from '../../../src/agent/worker/machine-lock.js';
import { measureOne } from '../support/measure-one.js';
import { needsLinux } from '../support/processes.js';
import { until } from '../../support/until.js';
import { agentForSuite } from '../support/running-agent.js';
import { matMul, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

/** Only ends a test that hangs. */
const timeout = 300_000;

const AGENT = fileURLToPath(new URL('../support/agent-process.js', import.meta.url));

/** Far more runs than can end within this test. */
const MANY_RUNS = 1_000_000;

/** Longer than a measurement of {@link protocol} takes. */
const TIME_LIMIT_MS = 6000;

/** Starts an agent in a process of its own and waits until it measures. */
async function measuringAgent(t: TestContext, runs: number, env = process.env): Promise<ChildProcess> {
  const agent = spawn(process.execPath, [AGENT, String(runs)], { stdio: ['ignore', 'pipe', 'inherit'], env });
  t.after(() => agent.kill('SIGKILL'));
  for await (const line of createInterface(agent.stdout)) if (line === 'running') break;
  // Discards its further lines.
  agent.stdout.resume();
  return agent;
}

describe('agents of one machine', { skip: needsLinux, timeout }, () => {
  const agent = agentForSuite();

  test('wait for the agent that measures, name its process, and continue at once when it is killed', async (t) => {
    const other = await measuringAgent(t, MANY_RUNS);
    const reports: RequestProgress[] = [];
    let isKilled = false;
    const { outcome } = await measureOne(agent().client, relu, runOptions, protocol, {
      onProgress: (report) => {
        reports.push(report);
        if (isKilled) return;
        assert.equal(report.phase, 'waiting');
        if (report.waitsFor === undefined) return;
        assert.equal(report.waitsFor, other.pid);
        isKilled = other.kill('SIGKILL');
      },
    });
    assert.equal(outcome.kind, 'samples');
    assert.ok(reports.some(({ phase }) => phase === 'running'));
  });

  test('do not count the time for which they wait in the cost or the time limit', async (t) => {
    const other = await measuringAgent(t, MANY_RUNS);
    const startMs = performance.now();
    const setup = { ...protocol, timeLimitMs: TIME_LIMIT_MS };
    const measuring = measureOne(agent().client, relu, runOptions, setup);
    await until(() => performance.now() - startMs > TIME_LIMIT_MS);
    other.kill('SIGKILL');
    const { outcome, costMs } = await measuring;
    assert.equal(outcome.kind, 'samples');
    assert.ok(costMs < TIME_LIMIT_MS);
  });

  test('optimize graphs while another one measures', async (t) => {
    await measuringAgent(t, MANY_RUNS);
    const { benchmark } = await agent().client.optimize(matMul, runOptions);
    assert.ok(benchmark.model.length > 0);
  });

  test('continue when an agent that is suspended has ended its measurement', async (t) => {
    const other = await measuringAgent(t, 3000);
    other.kill('SIGSTOP');
    assert.equal((await measureOne(agent().client, relu, runOptions, protocol)).outcome.kind, 'samples');
    assert.equal(other.exitCode, null);
  });

  test('do not wait for an agent of another group', async (t) => {
    await measuringAgent(t, MANY_RUNS, { ...process.env, [LOCK_GROUP_VARIABLE]: 'another group' });
    assert.equal((await measureOne(agent().client, relu, runOptions, protocol)).outcome.kind, 'samples');
  });

  test('stop waiting when they are asked to', async (t) => {
    await measuringAgent(t, MANY_RUNS);
    const stop = new AbortController();
    const waiting = measureOne(agent().client, relu, runOptions, protocol, {
      signal: stop.signal,
      onProgress: ({ waitsFor }) => waitsFor !== undefined && stop.abort(),
    });
    await assert.rejects(waiting, { code: 'cancelled' });
  });
});
