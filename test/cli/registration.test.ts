import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { registryServer } from '../directory/support/registry-server.js';
import { authorityForSuite } from '../rpc/support/certificates.js';
import { until } from '../support/until.js';
import { deadline } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { workplaceHere } from './support/workplace-here.js';

const TOKEN = 'a-token-that-nobody-guesses';

const ANYWHERE = ['--listen', '127.0.0.1:0'];

describe('agent --server', { ...deadline, concurrency: 2 }, () => {
  it('registers this machine, which registry agents then lists', async (t) => {
    const place = await workplaceHere(t);
    const { directory, address: server } = await registryServer(t);
    const agent = place.start(['agent', ...ANYWHERE, '--server', server]);
    const [, address] = await agent.said(/\nregistered with \S+ as (\S+)\n/);

    const [registered] = directory.list();
    assert.ok(registered);
    assert.deepEqual([registered.address, registered.tls], [address, false]);
    assert.deepEqual([registered.framework, registered.architecture], ['onnxruntime', process.arch]);
    assert.equal(registered.cores, os.availableParallelism());
    assert.ok(registered.models.some(({ name }) => name === 'resnet18'));

    const { stdout } = await place.run(['registry', 'agents', '--server', server, '--json']);
    const [listed] = JSON.parse(stdout) as [{ address: string; models: string[] }];
    assert.equal(listed.address, address);
    assert.ok(listed.models.includes('resnet18'));
  });

  it('is no longer registered after it is stopped', async (t) => {
    const place = await workplaceHere(t);
    const { directory, address: server } = await registryServer(t);
    const agent = place.start(['agent', ...ANYWHERE, '--server', server]);
    await agent.said(/registered/);
    agent.process.kill('SIGINT');
    const { code, stderr } = await agent.ended;
    assert.deepEqual([code, stderr, directory.list().length], [0, '', 0]);
  });

  it('disappears when it is killed', async (t) => {
    const place = await workplaceHere(t);
    const { directory, address: server } = await registryServer(t, { leaseMs: 600 });
    const agent = place.start(['agent', ...ANYWHERE, '--server', server]);
    await agent.said(/registered/);
    agent.process.kill('SIGKILL');
    await until(() => directory.list().length === 0);
  });

  it('waits for a server that has not started yet, and says so', async (t) => {
    const place = await workplaceHere(t);
    const agent = place.start(['agent', ...ANYWHERE, '--server', '127.0.0.1:1']);
    await agent.said(/warning: the server at 127\.0\.0\.1:1 does not answer .*mlmodelscope serve/);
    assert.equal(agent.process.exitCode, null);
  });

  it('ends when the server refuses its token', async (t) => {
    const place = await workplaceHere(t);
    const { address: server } = await registryServer(t, { security: { token: TOKEN } });
    const ending = await place.run(['agent', ...ANYWHERE, '--server', server]);
    assert.match(ending.stderr, /needs a token.*--token-file/);
    assert.equal(ending.code, 1);
  });

  it('needs an address at which a server on another machine reaches it', async (t) => {
    const place = await workplaceHere(t);
    // TEST-NET-1 (RFC 5737): an address without a machine, to which nothing is sent.
    const ending = await place.run(['agent', ...ANYWHERE, '--server', '192.0.2.1:7080']);
    assert.match(ending.stderr, /other machines cannot reach this agent at 127\.0\.0\.1:\d+; .*--advertise/);
    assert.equal(ending.code, 2);
  });
});

describe('an agent that others can reach', { ...deadline, concurrency: 2 }, () => {
  const authority = authorityForSuite();

  it('needs TLS and a token', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['agent', '--listen', '0.0.0.0:0']);
    assertOneMessage(ending);
    assert.match(ending.stderr, /--tls-cert and --tls-key.*--token-file or MLMODELSCOPE_TOKEN/);
    assert.equal(ending.code, 2);
  });

  it('registers and answers over TLS with certificates on both sides', async (t) => {
    const place = await workplaceHere(t);
    const { caPem, identity, folder } = authority();
    const security = { identity, clientCaPem: caPem, token: TOKEN };
    const { directory, address: server } = await registryServer(t, { security });
    const file = (name: string): string => join(folder, name);
    const tls = ['--tls-cert', file('cert.pem'), '--tls-key', file('key.pem'), '--tls-ca', file('ca.pem')];
    const secured = [...tls, '--token-file', await place.write('token', `${TOKEN}\n`)];
    const where = ['--listen', '0.0.0.0:0', '--server', server, '--advertise', 'localhost:7999'];
    const agent = place.start(['agent', ...where, ...secured]);
    const [, port] = await agent.said(/agent listening on 0\.0\.0\.0:(\d+)\n/);
    await agent.said(/registered with \S+ as localhost:7999/);
    assert.deepEqual(
      directory.list().map(({ address, tls: isTls }) => [address, isTls]),
      [['localhost:7999', true]],
    );

    const address = `localhost:${port}`;
    const described = await place.run(['registry', 'agents', '--agent', address, ...secured]);
    assert.match(described.stdout, /onnxruntime/);
    // Node warns of a TLS connection to an address without a name.
    const byNumber = place.start(['registry', 'agents', '--agent', `127.0.0.1:${port}`, ...secured]);
    assert.doesNotMatch((await byNumber.ended).stderr, /Deprecat/);
    const without = await place.run(['registry', 'agents', '--agent', address]);
    assert.equal(without.code, 1);
    assert.match(without.stderr, /--tls-ca/);
  });
});

describe('TLS and token options', { ...deadline, concurrency: 2 }, () => {
  const authority = authorityForSuite();

  for (const [name, args, message] of [
    ['a key without its certificate', ['--tls-key', 'key.pem'], /--tls-cert/],
    ['a certificate without its key', ['--tls-cert', 'cert.pem'], /--tls-key/],
    ['a missing file', ['--tls-ca', 'nowhere.pem'], /--tls-ca \S+nowhere\.pem: .*no such file/],
    ['an invalid certificate', ['--tls-cert', 'key.pem', '--tls-key', 'key.pem'], /PEM/],
    ['a key of another certificate', ['--tls-cert', 'ca.pem', '--tls-key', 'key.pem'], /key values mismatch/],
    ['an authority as a token', ['--token-file', 'ca.pem'], /16 to 1024 printable characters/],
  ] as const) {
    it(`refuse ${name}`, async (t) => {
      const place = await workplaceHere(t);
      const inFolder = args.map((arg) => (arg.endsWith('.pem') ? join(authority().folder, arg) : arg));
      const ending = await place.run(['agent', ...ANYWHERE, ...inFolder]);
      assertOneMessage(ending);
      assert.match(ending.stderr, message);
      assert.equal(ending.code, 2);
    });
  }

  it('warn of a token and a key that other users can read', async (t) => {
    const place = await workplaceHere(t);
    const token = await place.write('token', `${TOKEN}\n`);
    const args = ['registry', 'models', '--json', '--token-file', token];
    await chmod(token, 0o644);
    assert.match(
      (await place.run(args)).stderr,
      /^warning: --token-file \S+token can be read by other users; run `chmod 600 /,
    );
    await chmod(token, 0o600);
    assert.equal((await place.run(args)).stderr, '');
    const key = await place.write('key.pem', await readFile(join(authority().folder, 'key.pem'), 'utf8'));
    await chmod(key, 0o640);
    const identity = ['--tls-cert', join(authority().folder, 'cert.pem'), '--tls-key', key];
    assert.match(
      (await place.run(['registry', 'models', '--json', ...identity])).stderr,
      /--tls-key \S+ can be read by/,
    );
  });

  it('refuse a short token in the environment, and ignore an empty one', async (t) => {
    const place = await workplaceHere(t);
    const short = await place.run(['registry', 'models', '--json'], { env: { MLMODELSCOPE_TOKEN: 'secret' } });
    assert.equal(short.code, 2);
    assert.match(short.stderr, /MLMODELSCOPE_TOKEN: .*openssl rand -hex 32/);
    assert.ok(!short.stderr.includes('secret'));
    const empty = await place.run(['registry', 'models', '--json'], { env: { MLMODELSCOPE_TOKEN: '' } });
    assert.equal(empty.code, 0);
  });
});
