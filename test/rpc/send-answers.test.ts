import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { echo, echoServer } from './support/echo.js';
import { clientOf, handMadeClient, messagePrefix } from './support/hostile.js';
import { refusal } from './support/refusal.js';

const deadlineMs = 20_000;

describe('the room for answers', { timeout: 60_000 }, () => {
  test('is the same after answers that their clients have taken', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytes: 100 } });
    const client = clientOf(t, address);
    for (let i = 0; i < 3; i++) {
      const answer = await client.unary(echo.repeat, Buffer.alloc(90), { deadlineMs });
      assert.equal(answer.length, 90);
      const tooLarge = client.unary(echo.repeat, Buffer.alloc(110), { deadlineMs });
      await assert.rejects(tooLarge, refusal('exhausted', /no room for more answers/));
    }
  });

  test('of one connection is the same after its answers were taken, and one of any size fits into it', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytesPerConnection: 2 ** 20 } });
    const { call } = handMadeClient(t, address, { reads: false });
    const ask = async (mebibytes: number) => {
      const stream = call(echo.large.path);
      stream.end(Buffer.concat([messagePrefix(1), Buffer.of(mebibytes)]));
      await once(stream, 'response');
      return stream;
    };
    for (let i = 0; i < 3; i++) {
      const waiting = await ask(3);
      const refused = await ask(1);
      assert.equal((await refused.resume().ended).grpcStatus, status.RESOURCE_EXHAUSTED);
      waiting.resume();
      assert.equal((await waiting.ended).grpcStatus, status.OK);
    }
  });
});
