import { Metadata, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ErrorCode, EXIT_CODES, PlatformError } from '../../src/base/errors.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { fromStatus, toStatus } from '../../src/rpc/status.js';
import { echo, echoServer } from './support/echo.js';
import { assertRefused } from './support/refusal.js';

const SERVER = { kind: 'server', address: 'platform.example:7080', hasAnswered: false } as const;

function answered(code: ErrorCode, message: string): PlatformError {
  return fromStatus(toStatus(new PlatformError(code, message)), SERVER);
}

describe('a status', { timeout: 60_000 }, () => {
  for (const code of Object.keys(EXIT_CODES) as ErrorCode[]) {
    test(`${code} arrives as it was thrown`, () => {
      const arrived = answered(code, 'what to do');
      assert.deepEqual([arrived.code, arrived.message], [code, 'what to do']);
    });
  }

  // The canonical code (google.rpc.Code) for each error, for clients that do not know our trailer.
  const canonical: readonly [ErrorCode, status][] = [
    ['usage', status.INVALID_ARGUMENT],
    ['manifest', status.INVALID_ARGUMENT],
    ['model', status.INVALID_ARGUMENT],
    ['unsupported', status.FAILED_PRECONDITION],
    ['not_found', status.NOT_FOUND],
    ['unavailable', status.UNAVAILABLE],
    ['exhausted', status.RESOURCE_EXHAUSTED],
    ['unauthenticated', status.UNAUTHENTICATED],
    ['forbidden', status.PERMISSION_DENIED],
    ['timeout', status.DEADLINE_EXCEEDED],
    ['cancelled', status.CANCELLED],
    ['storage', status.INTERNAL],
    ['internal', status.INTERNAL],
  ];
  for (const [code, expected] of canonical) {
    test(`${code} is ${status[expected]}`, () => {
      assert.equal(toStatus(new PlatformError(code, 'what to do')).code, expected);
    });
  }

  const foreign: readonly [status, ErrorCode][] = [
    [status.INVALID_ARGUMENT, 'usage'],
    [status.OUT_OF_RANGE, 'usage'],
    [status.FAILED_PRECONDITION, 'unsupported'],
    [status.UNIMPLEMENTED, 'unsupported'],
    [status.NOT_FOUND, 'not_found'],
    [status.UNAVAILABLE, 'unavailable'],
    [status.RESOURCE_EXHAUSTED, 'exhausted'],
    [status.UNAUTHENTICATED, 'unauthenticated'],
    [status.PERMISSION_DENIED, 'forbidden'],
    [status.DEADLINE_EXCEEDED, 'timeout'],
    [status.CANCELLED, 'cancelled'],
    [status.INTERNAL, 'internal'],
    [status.DATA_LOSS, 'internal'],
  ];
  for (const [code, expected] of foreign) {
    test(`${status[code]} of a server that names no code is ${expected}`, () => {
      assert.equal(fromStatus({ code, details: 'no', metadata: new Metadata() }, SERVER).code, expected);
    });
  }

  test('an unknown code is ignored', () => {
    const metadata = new Metadata();
    metadata.set('mlmodelscope-error-code', 'toString');
    assert.equal(fromStatus({ code: status.NOT_FOUND, details: 'no', metadata }, SERVER).code, 'not_found');
  });

  test('an unexpected error is INTERNAL', () => {
    assert.equal(toStatus(new TypeError('x is not a function')).code, status.INTERNAL);
  });

  test('half of a surrogate pair is replaced, so that it can be encoded', () => {
    const { details } = toStatus(new PlatformError('not_found', `no model ${'\u{1F600}'.slice(0, 1)} here`));
    assert.equal(details, 'no model \ufffd here');
    assert.doesNotThrow(() => encodeURI(details));
  });

  // 6000 bytes as it travels, percent-encoded (docs/security.md: "about 6 kB").
  for (const [what, message, expected] of [
    ['at the limit arrives whole', 'a'.repeat(6000), 'a'.repeat(6000)],
    ['past it is cut, and says so', 'a'.repeat(6001), `${'a'.repeat(6000)}…`],
    ['is cut between characters', `${'a'.repeat(5999)}äöü`, `${'a'.repeat(5999)}…`],
  ] as const) {
    test(`a message ${what}`, () => assert.equal(toStatus(new PlatformError('model', message)).details, expected));
  }

  test('a very long message is cut to the length that clients accept, and arrives', async (t) => {
    const { address } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const call = client.unary(echo.fail, Buffer.alloc(100_000, 'ä'), { deadlineMs: 5000 });
    await assertRefused(call, 'unavailable', /^ä{1000}…$/);
  });

  const from = (code: status, details: string, kind: 'agent' | 'server' = 'server'): string =>
    fromStatus({ code, details, metadata: new Metadata() }, { ...SERVER, kind }).message;

  test('from another server names that server', () => {
    assert.equal(from(status.FAILED_PRECONDITION, 'no'), 'the server at platform.example:7080: no');
    assert.equal(from(status.FAILED_PRECONDITION, 'no', 'agent'), 'the agent at platform.example:7080: no');
  });

  const refused = 'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ';

  test('without an answer, it says why without the words of the library, and what to do', () => {
    assert.equal(
      from(status.UNAVAILABLE, refused),
      'the server at platform.example:7080 does not answer (connect ECONNREFUSED 127.0.0.1:1); check the address, or ' +
        'start a server there with `mlmodelscope serve`',
    );
    const inLines = refused.replace('. Resolution', '\n. Resolution');
    assert.equal(from(status.UNAVAILABLE, inLines), from(status.UNAVAILABLE, refused));
    assert.match(from(status.UNAVAILABLE, refused, 'agent'), /start an agent there with `mlmodelscope agent`$/);
    assert.match(
      from(status.UNAVAILABLE, 'name resolution failed'),
      /\(name resolution failed\); .*mlmodelscope serve/,
    );
  });

  test('from a program that speaks no gRPC, or only over TLS, it says which address is meant', () => {
    assert.match(
      from(status.UNAVAILABLE, 'Protocol error (2026-11-30T12:25:33.575Z)'),
      /no plain gRPC is spoken there: name the address of --listen, not of --http, or use TLS \(--tls-ca\)$/,
    );
  });

  test('without an answer in time, it says what to do', () => {
    assert.equal(
      from(status.DEADLINE_EXCEEDED, 'Deadline exceeded after 0.5s'),
      'the server at platform.example:7080 does not answer in time; check the address, or start a server there with ' +
        '`mlmodelscope serve`',
    );
  });

  for (const cause of [
    'self-signed certificate in chain',
    'SSL routines: wrong version number',
    'Client network socket disconnected before secure TLS connection was established',
    'read ECONNRESET',
    'socket hang up',
    "Hostname/IP does not match certificate's altnames",
    'Failed to connect before the deadline',
  ]) {
    test(`${cause}: it says how to use TLS`, () => {
      assert.match(from(status.UNAVAILABLE, `x. Last error: ${cause}. Resolution note: `), /use TLS .*--tls-ca/);
    });
  }
});
