import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Connections } from '../../src/rpc/connections.js';
import { SERVER_LIMITS, type ServerLimits } from '../../src/rpc/limits.js';
import { until } from '../support/until.js';

function streamOf(session: { closed: number }): ServerHttp2Stream {
  const close = (): void => void session.closed++;
  return Object.assign(new EventEmitter(), { session: { close } }) as unknown as ServerHttp2Stream;
}

/** A listener that keeps account of its connections. `connect` makes a connection, `look` runs the periodic check. */
async function listening(t: TestContext, changes: Partial<ServerLimits>) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const connections = new Connections({ ...SERVER_LIMITS, ...changes });
  const accepted = new Map<string, net.Socket>();
  const listener = net.createServer((socket) => {
    accepted.set(`${socket.remoteAddress}:${socket.remotePort}`, socket.resume());
    connections.add(socket);
  });
  t.after(() => {
    connections.destroy();
    listener.close();
  });
  listener.listen({ host: '127.0.0.1', port: 0 });
  await once(listener, 'listening');

  async function connect() {
    const socket = net.connect((listener.address() as net.AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket.resume(), 'connect');
    const peer = `127.0.0.1:${socket.localPort}`;
    await until(() => accepted.has(peer));
    const there = accepted.get(peer) ?? assert.fail();
    /** Resolves when the server has read this much more. */
    const bring = async (bytes: number): Promise<void> => {
      const before = there.bytesRead;
      socket.write(Buffer.alloc(bytes));
      await until(() => there.bytesRead === before + bytes);
    };
    return { peer, bring, isOpen: () => !there.destroyed, end: () => socket.destroy() };
  }
  return { connections, connect, look: () => t.mock.timers.tick(1000) };
}

describe('connections', { timeout: 60_000 }, () => {
  test('are counted until they are closed', async (t) => {
    const { connections, connect } = await listening(t, {});
    const [one] = [await connect(), await connect()];
    assert.equal(connections.size, 2);
    one.end();
    await until(() => connections.size === 1);
  });

  test('count the bytes of each client, and none of a client that is gone', async (t) => {
    const { connections, connect } = await listening(t, {});
    const one = await connect();
    const other = await connect();
    await one.bring(100);
    assert.deepEqual(
      [one, other].map(({ peer }) => connections.receivedBytes(peer)),
      [100, 0],
    );
    assert.equal(connections.receivedBytes('127.0.0.1:1'), 0);
  });

  test('that make no call are closed, and no others', async (t) => {
    const { connections, connect } = await listening(t, { firstCallMs: 5000 });
    const calling = await connect();
    const silent = await connect();
    connections.receive(calling.peer)?.end();
    await until(() => connections.size === 1);
    assert.deepEqual([calling.isOpen(), silent.isOpen()], [true, false]);
  });

  test('become idle, and are closed, when their last call has ended and not before', async (t) => {
    const { connections, connect } = await listening(t, { idleMs: 1000 });
    const { peer } = await connect();
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const session = { closed: 0 };
    const first = streamOf(session);
    const second = streamOf(session);
    for (const stream of [first, second]) connections.opened(peer, stream);
    first.emit('close');
    t.mock.timers.tick(5000);
    assert.equal(session.closed, 0);
    second.emit('close');
    t.mock.timers.tick(1000);
    assert.equal(session.closed, 1);
  });

  test('are all closed at the end', async (t) => {
    const { connections, connect } = await listening(t, {});
    const both = [await connect(), await connect()];
    connections.destroy();
    await until(() => connections.size === 0);
    assert.ok(both.every(({ isOpen }) => !isOpen()));
  });

  test('that are already closed need no account', async (t) => {
    const { connections } = await listening(t, {});
    assert.equal(connections.receive('192.0.2.1:7'), undefined);
    connections.opened('192.0.2.1:7', streamOf({ closed: 0 }));
    const answering = connections.answering('192.0.2.1:7');
    assert.equal(answering.take(1), true);
    answering.giveBack(1);
    assert.equal(connections.size, 0);
  });

  test('that are given up are closed, once their client had time to read why', async (t) => {
    const { connections, connect } = await listening(t, {});
    const { peer, isOpen } = await connect();
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    connections.receive(peer)?.giveUp();
    t.mock.timers.tick(500);
    assert.ok(isOpen());
    t.mock.timers.tick(5000);
    assert.ok(!isOpen());
  });
});

describe('requests that are on their way', { timeout: 60_000 }, () => {
  const receivingBytes = 1000;

  test('at the limit are received', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const both = [await connect(), await connect()];
    for (const { peer } of both) connections.receive(peer);
    for (const { bring } of both) await bring(500);
    look();
    assert.deepEqual(
      both.map(({ isOpen }) => isOpen()),
      [true, true],
    );
  });

  test('past the limit close the connections with the most bytes, until there is room', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const all = [await connect(), await connect(), await connect(), await connect()];
    const [small, large, larger, medium] = all;
    assert.ok(small && large && larger && medium);
    for (const { peer } of all) connections.receive(peer);
    await Promise.all([small.bring(100), large.bring(800), larger.bring(900), medium.bring(700)]);
    look();
    assert.deepEqual(
      all.map(({ isOpen }) => isOpen()),
      [true, false, false, true],
    );
  });

  test('count from the start of the call', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const { peer, bring, isOpen } = await connect();
    await bring(5000);
    connections.receive(peer);
    await bring(1000);
    look();
    assert.ok(isOpen(), 'bytes from before the call need no memory any more');
    await bring(1);
    look();
    assert.ok(!isOpen());
  });

  test('count from the start of the first of several calls', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const { peer, bring, isOpen } = await connect();
    connections.receive(peer);
    await bring(900);
    connections.receive(peer);
    await bring(200);
    look();
    assert.ok(!isOpen());
  });

  test('count until they have arrived, also if end() is called twice', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const { peer, bring, isOpen } = await connect();
    const first = connections.receive(peer);
    first?.end();
    first?.end();
    await bring(5000);
    look();
    assert.ok(isOpen());
    connections.receive(peer);
    await bring(1001);
    look();
    assert.ok(!isOpen());
  });

  test('do not count the delivered part any more', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const { peer, bring, isOpen } = await connect();
    const receiving = connections.receive(peer);
    await bring(900);
    receiving?.delivered(900);
    await bring(1000);
    look();
    assert.ok(isOpen());
    await bring(1);
    look();
    assert.ok(!isOpen());
  });

  test('with messages that are larger than the received bytes do not make room for others', async (t) => {
    const { connections, connect, look } = await listening(t, { receivingBytes });
    const compressed = await connect();
    const other = await connect();
    connections.receive(compressed.peer)?.delivered(1_000_000);
    connections.receive(other.peer);
    await other.bring(1001);
    look();
    assert.deepEqual([compressed.isOpen(), other.isOpen()], [true, false]);
  });
});
