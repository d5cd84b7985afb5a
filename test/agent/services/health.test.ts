import { service } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startAgent } from '../../../src/agent/services/server.js';
import { rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';
import { endless, longProtocol, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

interface HealthMethod {
  readonly path: string;
  readonly requestSerialize: (request: { readonly service: string }) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => { readonly status: string };
}

const check = service['Check'] as unknown as HealthMethod;
const watch = service['Watch'] as unknown as HealthMethod;

const SERVICES = ['', 'mlmodelscope.benchmark.v1.BenchmarkService', 'mlmodelscope.org.dlframework.Predict'];

describe('health', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  for (const name of SERVICES) {
    test(`${name === '' ? 'the server' : name} is serving`, async () => {
      const client = rawClient(agent().address);
      try {
        assert.equal((await client.unary(check, { service: name })).status, 'SERVING');
      } finally {
        client.close();
      }
    });
  }

  // It takes half a minute where the connection's keepalive has to end the watch.
  test('an agent that closes informs its watchers, and does not wait for them', { timeout: 300_000 }, async () => {
    const closing = await startAgent();
    const client = rawClient(closing.address);
    const answers: string[] = [];
    const watching = client.stream(watch, { service: '' }, ({ status }) => {
      answers.push(status);
      if (answers.length === 1) void closing.close();
    });
    await assert.rejects(watching);
    await closing.close();
    client.close();

    assert.deepEqual(answers, ['SERVING', 'NOT_SERVING']);
  });

  test('checks are answered while a run that takes half a minute is under way', async () => {
    const client = rawClient(agent().address);
    const controller = new AbortController();
    let phase: string | undefined;
    let ended = false;
    const measuring = measureOne(agent().client, endless, runOptions, longProtocol, {
      signal: controller.signal,
      onProgress: (progress) => (phase = progress.phase),
    })
      .catch(() => {})
      .finally(() => (ended = true));
    try {
      while (phase !== 'running') await setTimeout(10);
      const answers: string[] = [];
      for (let i = 0; i < 20; i++) {
        answers.push((await client.unary(check, { service: '' })).status);
        await setTimeout(10);
      }

      assert.deepEqual(answers, new Array<string>(20).fill('SERVING'));
      assert.equal(ended, false);
    } finally {
      controller.abort();
      await measuring;
      client.close();
    }
  });
});
