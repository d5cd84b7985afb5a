import { service as healthService } from 'grpc-health-check';
import { Client, credentials, type handleUnaryCall, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { findToken, hashToken } from '../../src/rpc/accepted-tokens.js';
import { checkToken } from '../../src/rpc/bearer-token.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { echo, echoServer } from './support/echo.js';
import { assertRefused, refusal } from './support/refusal.js';

const TOKEN = 'a-token-that-nobody-guesses';

const deadlineMs = 5000;

async function protectedServer(t: TestContext, token?: string) {
  const { address, answered } = await echoServer(t, { security: { token: TOKEN } });
  const client = createRpcClient(address, 'server', { security: { token } });
  t.after(() => client.close());
  return { address, answered, client };
}

/** The status of a call with this authorization, and with more metadata. */
function statusWith(
  address: string,
  header: string,
  more: Readonly<Record<string, string>> = {},
): Promise<status | undefined> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = Metadata.fromHttp2Headers({ authorization: header, ...more });
  const { path, requestSerialize, responseDeserialize } = echo.repeat;
  return new Promise((resolve) => {
    const answer = (error: ServiceError | null): void => {
      client.close();
      resolve(error?.code);
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, Buffer.from('x'), metadata, answer);
  });
}

describe('a server with a token', { timeout: 60_000 }, () => {
  test('answers writes that have it', async (t) => {
    const { client } = await protectedServer(t, TOKEN);
    assert.equal((await client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs })).toString(), 'hello');
  });

  test('refuses writes without one, and says how to give it', async (t) => {
    const { client, answered } = await protectedServer(t);
    const refused = refusal('unauthenticated', /needs a token.*MLMODELSCOPE_TOKEN/);
    await assert.rejects(client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs }), refused);
    assert.equal(answered.get('repeat'), undefined);
  });

  test('refuses writes with another one', async (t) => {
    const { client, answered } = await protectedServer(t, `${TOKEN}!`);
    const refused = refusal('unauthenticated', /token is wrong/);
    await assert.rejects(client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs }), refused);
    assert.equal(answered.get('repeat'), undefined);
  });

  test('refuses streams as well', async (t) => {
    const { client } = await protectedServer(t);
    const first = client.stream(echo.count, Buffer.from('abc'), { deadlineMs })[Symbol.asyncIterator]().next();
    await assertRefused(first, 'unauthenticated');
  });

  test('needs no token for reads', async (t) => {
    const { client } = await protectedServer(t);
    const check = healthService['Check'];
    assert.ok(check);
    const answer = (await client.unary(check, { service: '' }, { deadlineMs })) as { status: string };
    assert.equal(answer.status, 'SERVING');
  });

  test('does not pass the token to handlers, but all other metadata', async (t) => {
    const server = createRpcServer({ security: { token: TOKEN } });
    let handed: Readonly<Record<string, unknown>> = {};
    const whoami: handleUnaryCall<Buffer, Buffer> = ({ metadata, request }, callback) => {
      handed = metadata.getMap();
      callback(null, request);
    };
    server.addService({ whoami: echo.repeat }, { whoami });
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    t.after(() => server.close(new PlatformError('unavailable', 'done')));
    assert.equal(await statusWith(address, `Bearer ${TOKEN}`, { 'x-more': 'more' }), undefined);
    assert.equal(handed['x-more'], 'more');
    assert.doesNotMatch(JSON.stringify(handed), new RegExp(TOKEN));
  });

  for (const [name, security] of [
    ['a token', { token: TOKEN }],
    ['tokens with roles', { acceptedTokens: { find: () => undefined } }],
  ] as const) {
    test(`accepts the token that its process has made, beside ${name}`, async (t) => {
      const server = createRpcServer({ security: { ...security, ownToken: 'made-by-this-process' } });
      const whoami: handleUnaryCall<Buffer, Buffer> = ({ request }, callback) => callback(null, request);
      server.addService({ whoami: echo.repeat }, { whoami });
      const address = await server.listen({ host: '127.0.0.1', port: 0 });
      t.after(() => server.close(new PlatformError('unavailable', 'done')));
      assert.equal(await statusWith(address, 'Bearer made-by-this-process'), undefined);
      assert.equal(await statusWith(address, 'Bearer made-by-another-one'), status.UNAUTHENTICATED);
    });
  }

  test('trusts calls that have the token; a server without a token trusts all calls', async (t) => {
    const protectedOne = createRpcServer({ security: { token: TOKEN } });
    const trusted: boolean[] = [];
    for (const server of [protectedOne, createRpcServer()]) {
      const whoami: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
        trusted.push(server.isTrusted(call));
        callback(null, call.request);
      };
      server.addService({ whoami: echo.repeat }, { whoami });
      const address = await server.listen({ host: '127.0.0.1', port: 0 });
      t.after(() => server.close(new PlatformError('unavailable', 'done')));
      await statusWith(address, `Bearer ${TOKEN}`);
    }
    assert.deepEqual(trusted, [true, true]);
    assert.equal(protectedOne.isTrusted({ metadata: new Metadata() }), false);
  });

  for (const [name, header, expected] of [
    ['the scheme in any case', `bEARER ${TOKEN}`, undefined],
    ['another scheme', `Basic ${TOKEN}`, status.UNAUTHENTICATED],
    ['the token alone', TOKEN, status.UNAUTHENTICATED],
    ['the token in capitals', `Bearer ${TOKEN.toUpperCase()}`, status.UNAUTHENTICATED],
    ['something before the scheme', `x Bearer ${TOKEN}`, status.UNAUTHENTICATED],
    ['something behind the token', `Bearer ${TOKEN} x`, status.UNAUTHENTICATED],
    ['a prefix of it', `Bearer ${TOKEN.slice(0, -1)}`, status.UNAUTHENTICATED],
    ['nothing behind the scheme', 'Bearer ', status.UNAUTHENTICATED],
  ] as const) {
    test(`${name}: ${expected === undefined ? 'answered' : 'refused'}`, async (t) => {
      const { address } = await protectedServer(t);
      assert.equal(await statusWith(address, header), expected);
    });
  }
});

describe('a server whose tokens have roles', { timeout: 60_000 }, () => {
  const acceptedTokens = {
    find: (shown: string) =>
      findToken(shown, [
        { name: 'alice', role: 'full', sha256: hashToken('full-token') },
        { name: 'bob', role: 'read', sha256: hashToken('read-token') },
      ]),
  };

  test('answers a token of a role that is allowed, and says which role another one needs', async (t) => {
    const { address } = await echoServer(t, { security: { acceptedTokens } });
    const repeatWith = async (token: string | undefined): Promise<string> => {
      const client = createRpcClient(address, 'server', { security: { token } });
      t.after(() => client.close());
      return (await client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs })).toString();
    };
    assert.equal(await repeatWith('full-token'), 'hello');
    const other = /: Repeat needs a token with the role full; "bob" has the role read; ask the administrator/;
    await assertRefused(repeatWith('read-token'), 'forbidden', other);
    await assertRefused(repeatWith('no-token'), 'unauthenticated', /token is wrong/);
    await assertRefused(repeatWith(undefined), 'unauthenticated', /needs a token/);
  });

  test('judges a token that came in another way like one in the metadata', () => {
    const check = checkToken({ acceptedTokens });
    const judged = (path: string, shown: string | undefined) => {
      const { refusal, holder } = check?.judge(path, shown) ?? assert.fail();
      return [refusal?.code, holder];
    };
    assert.deepEqual(judged(echo.repeat.path, 'full-token'), [undefined, 'alice']);
    assert.deepEqual(judged(echo.repeat.path, 'read-token'), ['forbidden', 'bob']);
    for (const none of ['no-token', undefined]) {
      assert.deepEqual(judged(echo.repeat.path, none), ['unauthenticated', undefined]);
      assert.deepEqual(judged('/grpc.health.v1.Health/Check', none), [undefined, undefined]);
    }
  });
});
