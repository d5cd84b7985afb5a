import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { PlatformError } from '../../../src/base/errors.js';
import { describeBenchmarkAgent } from '../support/contract.js';
import { longProtocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

describeBenchmarkAgent('an agent behind gRPC', async () => {
  const agent = await startAgent();
  const client = connectAgent(agent.address);
  return {
    ...client,
    async close() {
      await client.close();
      await agent.close();
    },
  };
});

describe('agent client', () => {
  test('an address without a listener is unavailable; the error names the address and gives advice', async () => {
    const agent = await startAgent();
    await agent.close();
    const client = connectAgent(agent.address);
    try {
      await assert.rejects(client.system(runOptions), (error) => {
        assert.ok(error instanceof PlatformError);
        assert.equal(error.code, 'unavailable');
        assert.ok(error.message.includes(agent.address));
        assert.match(error.message, /mlmodelscope agent/);
        return true;
      });
    } finally {
      await client.close();
    }
  });

  test('an agent that shuts down ends a measurement as unavailable', { timeout: 60_000 }, async () => {
    const agent = await startAgent();
    const client = connectAgent(agent.address);
    try {
      const measuring = measureOne(client, relu, runOptions, longProtocol, {
        onProgress: ({ phase }) => {
          if (phase === 'running') void agent.close();
        },
      });
      await assert.rejects(measuring, (error) => error instanceof PlatformError && error.code === 'unavailable');
    } finally {
      await client.close();
      await agent.close();
    }
  });

  test('an address that is in use is unavailable to a second agent', async () => {
    const agent = await startAgent();
    const port = Number(agent.address.split(':').at(-1));
    try {
      await assert.rejects(
        startAgent({ port }),
        (error) => error instanceof PlatformError && error.code === 'unavailable' && error.message.includes(`:${port}`),
      );
    } finally {
      await agent.close();
    }
  });
});
