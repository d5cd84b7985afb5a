import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { test } from 'node:test';
import { until } from '../support/until.js';
import { echo, echoServer } from './support/echo.js';
import { handMadeClient, messagePrefix } from './support/hostile.js';

test('calls that are refused make no room for others, calls that end do', { timeout: 60_000 }, async (t) => {
  const { address, answered } = await echoServer(t, { limits: { calls: 1 } });
  const { call } = handMadeClient(t, address);
  const hanging = call(echo.hang.path);
  hanging.end(messagePrefix(0));
  await until(() => answered.get('hang') === 1);
  const ask = async () => {
    const stream = call(echo.repeat.path);
    stream.end(messagePrefix(0));
    return (await stream.ended).grpcStatus;
  };
  for (let i = 0; i < 5; i++) assert.equal(await ask(), status.RESOURCE_EXHAUSTED);
  hanging.close(constants.NGHTTP2_CANCEL);
  await until(async () => (await ask()) === status.OK);
});
