import { service as healthService } from 'grpc-health-check';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createRpcClient } from '../../src/rpc/client.js';
import { echo, echoServer } from './support/echo.js';
import { refusal } from './support/refusal.js';

const TOKEN = 'a-token-that-nobody-guesses';

const deadlineMs = 5000;

async function protectedServer(t: TestContext, token?: string) {
  const { address, answered } = await echoServer(t, { security: { token: TOKEN } });
  const client = createRpcClient(address, 'server', { security: { token } });
  t.after(() => client.close());
  return { address, answered, client };
}

/** The status of a call with this metadata. */
function statusWith(address: string, header: string): Promise<status | undefined> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', header);
  const { path, requestSerialize, responseDeserialize } = echo.repeat;
  return new Promise((resolve) => {
    const answer = (error: ServiceError | null): void => {
      client.close();
      resolve(error?.code);
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, Buffer.from('x'), metadata, answer);
  });
}

describe('a server with a token', { timeout: 20_000 }, () => {
  test('answers writes that show it', async (t) => {
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
    const refused = refusal('unauthenticated', /not the one/);
    await assert.rejects(client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs }), refused);
    assert.equal(answered.get('repeat'), undefined);
  });

  test('refuses streams as well', async (t) => {
    const { client } = await protectedServer(t);
    const first = client.stream(echo.count, Buffer.from('abc'), { deadlineMs })[Symbol.asyncIterator]().next();
    await assert.rejects(first, refusal('unauthenticated'));
  });

  test('wants nothing for reads', async (t) => {
    const { client } = await protectedServer(t);
    const check = healthService['Check'];
    assert.ok(check);
    const answer = (await client.unary(check, { service: '' }, { deadlineMs })) as { status: string };
    assert.equal(answer.status, 'SERVING');
  });

  for (const [name, header, expected] of [
    ['the scheme in any case', `bEARER ${TOKEN}`, undefined],
    ['another scheme', `Basic ${TOKEN}`, status.UNAUTHENTICATED],
    ['the token alone', TOKEN, status.UNAUTHENTICATED],
    ['a prefix of it', `Bearer ${TOKEN.slice(0, -1)}`, status.UNAUTHENTICATED],
    ['nothing behind the scheme', 'Bearer ', status.UNAUTHENTICATED],
  ] as const) {
    test(`${name}: ${expected === undefined ? 'answered' : 'refused'}`, async (t) => {
      const { address } = await protectedServer(t);
      assert.equal(await statusWith(address, header), expected);
    });
  }
});
