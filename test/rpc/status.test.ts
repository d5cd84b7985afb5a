import { type ServiceError, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ErrorCode, EXIT_CODES, PlatformError } from '../../src/base/errors.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { errorOf, statusOf } from '../../src/rpc/status.js';
import { echo, echoServer } from './support/echo.js';
import { refusal } from './support/refusal.js';

const SERVER = { kind: 'server', address: 'platform.example:7080' } as const;

function answered(code: ErrorCode, message: string): PlatformError {
  return errorOf(statusOf(new PlatformError(code, message)), SERVER);
}

describe('a status', { timeout: 20_000 }, () => {
  for (const code of Object.keys(EXIT_CODES) as ErrorCode[]) {
    test(`${code} arrives as it was thrown`, () => {
      const arrived = answered(code, 'what to do');
      assert.deepEqual([arrived.code, arrived.message], [code, 'what to do']);
    });
  }

  test('something that was not thrown on purpose is INTERNAL', () => {
    assert.equal(statusOf(new TypeError('x is not a function')).code, status.INTERNAL);
  });

  test('half a character does not keep it from being encoded', () => {
    const { details } = statusOf(new PlatformError('not_found', `no model ${'\u{1F600}'.slice(0, 1)} here`));
    assert.equal(details, 'no model \ufffd here');
    assert.doesNotThrow(() => encodeURI(details));
  });

  test('a message without end is cut to what clients take, and arrives', async (t) => {
    const { address } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const call = client.unary(echo.fail, Buffer.alloc(100_000, 'ä'), { deadlineMs: 5000 });
    await assert.rejects(call, refusal('unavailable', /^ä{1000}…$/));
  });

  test('one of another server says who, and where nobody answers what to do', () => {
    const foreign = { code: status.FAILED_PRECONDITION, details: 'no', metadata: statusOf(undefined).metadata.clone() };
    foreign.metadata.remove('mlmodelscope-error-code');
    assert.equal(errorOf(foreign, SERVER).message, 'the server at platform.example:7080: no');
    const silent = { ...foreign, code: status.UNAVAILABLE, details: 'connect ECONNREFUSED' } as ServiceError;
    assert.match(errorOf(silent, SERVER).message, /does not answer \(connect ECONNREFUSED\); .*`mlmodelscope serve`/);
  });
});
