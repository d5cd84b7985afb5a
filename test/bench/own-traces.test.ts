import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { coverByOwnTrace } from '../../bench/own-traces.js';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { type RunningAgent, startAgent } from '../../src/agent/services/server.js';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';

/** The fastest models of the zoo; together they have convolutions, pools, concatenations and fully connected layers. */
const QUICK = ['squeezenet1.1', 'mobilenet_v2', 'resnet18'] as const;

describe("a model's own trace covers the model in every format, and counts once in several formats", () => {
  let server: RunningAgent;
  let agent: BenchmarkAgent;
  before(async () => {
    server = await startAgent();
    agent = await connectAgent(server.address);
  });
  after(async () => {
    await agent.close();
    await server.close();
  });

  for (const name of QUICK) {
    test(name, { timeout: 300_000 }, async () => {
      const results = await withTemporaryFolder((folder) => coverByOwnTrace(`zoo:${name}`, agent, folder));
      assert.deepEqual(
        results.map(({ format }) => format),
        ['jaeger', 'otlp', 'chrome'],
      );
      for (const { format, kernels, covered, occurrences } of results) {
        assert(kernels > 20);
        assert.equal(covered, kernels, format);
        assert.equal(occurrences, 1);
      }
    });
  }
});
