import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { sendUnaryData } from '@grpc/grpc-js';
import { PlatformError } from '../../src/base/errors.js';
import {
  BenchmarkServiceService,
  DescribeSystemResponse,
  System,
} from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { deadline, workplace } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { workplaceHere } from './support/workplace-here.js';

/** A test machine has no listener on port 1. */
const NOBODY = '127.0.0.1:1';

/** An agent that describes itself and then answers no call. `called` resolves with the first such call. */
async function silentAgent(t: TestContext) {
  const server = createRpcServer();
  const system = {
    ...System.create(),
    ...{ processor: 'any', architecture: 'x64', operatingSystem: 'Linux 6.1', cores: 2, memoryBytes: 2n ** 33n },
    ...{ framework: 'onnxruntime', frameworkVersion: '1.30.0' },
  };
  let tell = (): void => {};
  const called = new Promise<void>((resolve) => (tell = resolve));
  const silent = (): void => tell();
  server.addService(BenchmarkServiceService, {
    describeSystem: (_: unknown, answer: sendUnaryData<DescribeSystemResponse>) =>
      answer(null, { ...DescribeSystemResponse.create(), system, measuresTogether: true }),
    ...{ optimize: silent, inferTypes: silent, measure: silent, measureBricks: silent, runOnce: silent },
  });
  t.after(() => server.close(new PlatformError('unavailable', 'done')));
  return { address: await server.listen({ host: '127.0.0.1', port: 0 }), called };
}

describe('an address', { ...deadline, concurrency: 2 }, () => {
  it('of an agent where a server is meant is an error that names the right option', async (t) => {
    const place = await workplaceHere(t);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0']);
    const [, address = ''] = await agent.said(/^agent listening on (127\.0\.0\.1:\d+)\n/);
    for (const args of [
      ['evaluations', 'list'],
      ['plugin', 'dlbricks'],
      ['agent', '--listen', '127.0.0.1:0'],
    ]) {
      const ending = await place.run([...args, '--server', address]);
      assert.match(
        ending.stderr,
        new RegExp(`^the program at ${address} is no server.*an agent takes .*dlbricks run --agent ${address}`),
      );
      assert.equal(ending.code, 1);
    }
  });

  it('of a server where an agent is meant is an error that says where agents are', async (t) => {
    const place = await workplaceHere(t);
    const server = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins']);
    const [, address = ''] = await server.said(/^server listening on (127\.0\.0\.1:\d+)\n/);
    const ending = await place.run(['dlbricks', 'validate', 'zoo:squeezenet1.1', '--agent', address]);
    assertOneMessage(ending);
    assert.match(ending.stderr, new RegExp(`is no agent.*registry agents --server ${address}`));
    assert.equal(ending.code, 1);
    const listed = await place.run(['evaluations', 'show', 'latest', '--server', address]);
    assert.match(listed.stderr, /^no evaluation is called latest; `mlmodelscope evaluations list` shows/);
    assert.equal(listed.code, 2);
  });

  for (const command of [['dlbricks', 'run'], ['latency']]) {
    it(`of an agent that answers nothing after its description lets Ctrl-C end ${command.join(' ')} at once`, async (t) => {
      const place = await workplaceHere(t);
      const { address, called } = await silentAgent(t);
      const running = place.start([...command, 'zoo:squeezenet1.1', '--agent', address]);
      await called;
      running.process.kill('SIGINT');
      const { code, stderr } = await running.ended;
      assert.match(stderr, /interrupted/);
      assert.equal(code, 130);
    });
  }

  it('without a listener is reported by a plugin at once', async (t) => {
    const plugin = (await workplace(t)).start(['plugin', 'dlbricks', '--server', NOBODY]);
    await plugin.said(/^warning: the server at 127\.0\.0\.1:1 does not answer .*mlmodelscope serve/);
  });
});
