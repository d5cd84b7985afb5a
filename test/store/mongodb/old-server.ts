import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { BSON } from 'mongodb';

/** MongoDB 3.6 speaks versions 0 to 6 of the protocol (mongo, src/mongo/db/wire_version.h). */
const GREETING = {
  ok: 1,
  ismaster: true,
  helloOk: false,
  minWireVersion: 0,
  maxWireVersion: 6,
  maxBsonObjectSize: 16_777_216,
};

const HEADER_BYTES = 16;
const OP_REPLY = 1;

/** A server that greets like MongoDB 3.6, and does nothing else. @returns host:port */
export async function startOldServer(t: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (request) => socket.write(replyTo(request)));
    socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An OP_REPLY of one document (MongoDB's manual, "Wire Protocol"). Greetings are short: one is one piece of data. */
function replyTo(request: Buffer): Buffer {
  const body = Buffer.from(BSON.serialize(GREETING));
  const header = Buffer.alloc(HEADER_BYTES + 20);
  header.writeInt32LE(header.length + body.length, 0);
  header.writeInt32LE(request.readInt32LE(4), 8);
  header.writeInt32LE(OP_REPLY, 12);
  header.writeInt32LE(1, HEADER_BYTES + 16);
  return Buffer.concat([header, body]);
}
