import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline, workplace } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { workplaceHere } from './support/workplace-here.js';

/** A test machine has no listener on port 1. */
const NOBODY = '127.0.0.1:1';

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

  it('without a listener is reported by a plugin at once', async (t) => {
    const plugin = (await workplace(t)).start(['plugin', 'dlbricks', '--server', NOBODY]);
    await plugin.said(/^warning: the server at 127\.0\.0\.1:1 does not answer .*mlmodelscope serve/);
  });
});
