import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { isRunning, measuringProcessesOf, needsLinux } from '../support/processes.js';
import { until } from '../../support/until.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

const timeout = 300_000;

describe('worker processes', () => {
  test('none outlives an agent that is killed, not even within a long run', { skip: needsLinux, timeout }, async () => {
    const script = fileURLToPath(new URL('../support/agent-process.js', import.meta.url));
    const agent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(agent.stdout)) if (line === 'running') break;
    const measuring = measuringProcessesOf(agent.pid ?? 0);
    assert.equal(measuring.length, 1);
    agent.kill('SIGKILL');

    await until(() => !measuring.some(isRunning));
  });

  test('none outlives an agent that is closed', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    await measureOne(client, relu, runOptions, protocol);
    const before = measuringProcessesOf(process.pid).length;
    await client.close();
    await agent.close();

    assert.deepEqual([before, measuringProcessesOf(process.pid).length], [1, 0]);
  });

  test('none outlives an agent that is closed while one starts', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    const measuring = assert.rejects(measureOne(client, relu, runOptions, protocol));
    await until(() => measuringProcessesOf(process.pid).length > 0);
    await agent.close();
    await measuring;
    await client.close();
    // The process is asked to end once it has started, after the agent has closed.
    await until(() => measuringProcessesOf(process.pid).length === 0);
  });

  /** Kills the next `most` processes as soon as they start. @returns stops this, and returns the number of them */
  function killStarting(most: number): () => number {
    const killed = new Set<number>();
    const killing = setInterval(() => {
      for (const pid of measuringProcessesOf(process.pid)) {
        if (killed.size < most && !killed.has(pid)) process.kill(pid, 'SIGKILL');
        if (killed.size < most) killed.add(pid);
      }
    }, 5);
    return () => {
      clearInterval(killing);
      return killed.size;
    };
  }

  test('one that is killed while it starts is started again', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    const stop = killStarting(2);
    try {
      const { outcome } = await measureOne(client, relu, runOptions, protocol);
      assert.equal(outcome.kind, 'samples');
      assert.equal(stop(), 2);
    } finally {
      stop();
      await client.close();
      await agent.close();
    }
  });

  test('one that is killed at each start is an error', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    const stop = killStarting(Infinity);
    try {
      const asked = measureOne(client, relu, runOptions, protocol);
      const message = /the worker process does not start: the worker process was killed (from outside|, )/;
      await assertRefused(asked, 'unavailable', message);
      assert.ok(stop() >= 3);
    } finally {
      stop();
      await client.close();
      await agent.close();
    }
  });

  test('a terminal’s Ctrl-C and Ctrl-Z do not reach a measurement', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    try {
      const { outcome } = await measureOne(
        client,
        relu,
        runOptions,
        { ...protocol, runs: 5000 },
        {
          onProgress({ phase }) {
            if (phase !== 'running') return;
            for (const pid of measuringProcessesOf(process.pid)) {
              for (const signal of ['SIGINT', 'SIGTERM', 'SIGTSTP'] as const) process.kill(pid, signal);
            }
          },
        },
      );
      assert.equal(outcome.kind, 'samples');
    } finally {
      await client.close();
      await agent.close();
    }
  });

  test('one that has refused a wrong request does the next request', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    try {
      await measureOne(client, relu, runOptions, protocol);
      const before = measuringProcessesOf(process.pid);
      const damaged = { ...relu, model: Uint8Array.of(0x3a, 0x7f) };
      await assertRefused(measureOne(client, damaged, runOptions, protocol), 'usage');
      await measureOne(client, relu, runOptions, protocol);
      assert.equal(before.length, 1);
      assert.deepEqual(measuringProcessesOf(process.pid), before);
    } finally {
      await client.close();
      await agent.close();
    }
  });

  // MAX_JOBS in worker-process.ts: a runtime's sessions leak a little memory, and starting a process costs a quarter of
  // a second.
  test('each is replaced after 64 jobs', { skip: needsLinux, timeout }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    const pids: (number | undefined)[] = [];
    try {
      for (let job = 0; job <= 64; job++) {
        await measureOne(client, relu, runOptions, { ...protocol, warmupRuns: 0, runs: 1, minRuns: 1 });
        // A replaced process may still exist for a moment.
        const before = pids[0];
        const now = measuringProcessesOf(process.pid);
        pids.push(now.find((pid) => pid !== before) ?? before);
      }
    } finally {
      await client.close();
      await agent.close();
    }
    assert.equal(pids.lastIndexOf(pids[0]), 63);
  });

  test('the lifeline removes the temporary folder of a blocked process', { skip: needsLinux, timeout }, async () => {
    const temporaryFolder = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
    const script = fileURLToPath(new URL('../support/blocked-process.js', import.meta.url));
    const blocked = spawn(process.execPath, [script, temporaryFolder], {
      stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
    });
    const exit = once(blocked, 'exit');
    await once(blocked.stdout as Readable, 'data');
    (blocked.stdio[4] as Readable).destroy();
    const [, signal] = (await exit) as [number | null, string | null];

    assert.equal(signal, 'SIGKILL');
    assert.equal(existsSync(temporaryFolder), false);
  });

  test('the agent’s own process never loads the runtime', { skip: needsLinux, timeout }, async () => {
    const script = fileURLToPath(new URL('../support/agent-process.js', import.meta.url));
    const agent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(agent.stdout)) if (line === 'running') break;
    const loaded = readFileSync(`/proc/${agent.pid ?? 0}/maps`, 'latin1');
    agent.kill('SIGKILL');

    assert.doesNotMatch(loaded, /onnxruntime/);
  });
});
