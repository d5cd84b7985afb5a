import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  addressToListenOn,
  formatHostPort,
  isLoopbackAddress,
  isLoopbackHost,
  parseHostPort,
} from '../../src/rpc/loopback.js';
import { refusal } from './support/refusal.js';

describe('an address leads only to this machine', () => {
  // 127.0.0.0/8: RFC 1122, 3.2.1.3; ::1: RFC 4291, 2.5.3.
  for (const address of ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1']) {
    test(`${address} does`, () => assert.ok(isLoopbackAddress(address) && isLoopbackHost(address)));
  }

  for (const address of [
    '126.255.255.255',
    '128.0.0.1',
    '10.0.0.1',
    '0.0.0.0',
    '::',
    '::2',
    'fe80::1',
    'example.org',
  ]) {
    test(`${address} does not`, () => assert.ok(!isLoopbackAddress(address) && !isLoopbackHost(address)));
  }

  test('of names, only localhost does', () => {
    assert.ok(isLoopbackHost('localhost'));
    assert.ok(!isLoopbackAddress('localhost'), 'it is no address');
    assert.ok(!isLoopbackHost('localhost.example.org'));
  });
});

describe('HOST:PORT', () => {
  for (const [text, host, port] of [
    ['127.0.0.1:7070', '127.0.0.1', 7070],
    ['localhost:0', 'localhost', 0],
    ['agent-1.example.org:65535', 'agent-1.example.org', 65_535],
    ['[::1]:7070', '::1', 7070],
    ['[::FFFF:127.0.0.1]:1', '::FFFF:127.0.0.1', 1],
  ] as const) {
    test(`${text} is parsed, and written in the same way`, () => {
      assert.deepEqual(parseHostPort(text), { host, port });
      assert.equal(formatHostPort({ host, port }), text);
    });
  }

  for (const text of [
    'localhost',
    ':7070',
    'localhost:',
    'localhost:65536',
    'localhost:100000',
    'localhost:-1',
    'localhost:7070/',
    'http://localhost:7070',
    '::1:7070',
    '[localhost]:7070',
    'local host:7070',
    ' localhost:7070',
    '[::1]x:7070',
    'x[::1]:7070',
    '',
  ]) {
    test(`${JSON.stringify(text)} is invalid`, () => assert.equal(parseHostPort(text), undefined));
  }
});

describe('the address to listen on', () => {
  for (const address of ['127.0.0.1', '0.0.0.0', '::1']) {
    test(`of ${address} is itself`, async () => assert.equal(await addressToListenOn(address), address));
  }

  test('of localhost is on loopback', async () => {
    assert.ok(isLoopbackAddress(await addressToListenOn('localhost')));
  });

  test('of an unknown name is an error that names it', async () => {
    // RFC 1035, 2.3.4: labels have at most 63 characters, so that no server is asked for this one.
    const name = 'x'.repeat(64);
    const refused = refusal('unavailable', /^cannot listen on x{64}: .+; choose another address$/);
    await assert.rejects(addressToListenOn(name), refused);
    await assert.rejects(addressToListenOn(name), ({ cause }: Error) => cause instanceof Error);
  });
});
