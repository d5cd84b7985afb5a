import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { isPassing } from '../../../src/store/mongodb/mongo-error.js';

describe('an error of a request', () => {
  it('passes if the connection is lost during the write, which the driver throws as it comes from the socket', async (t) => {
    const server = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [lost] = (await once(socket, 'error').catch((thrown: unknown) => [thrown])) as [unknown];
    assert(isPassing(lost), String(lost));
    const late = await new Promise<unknown>((resolve) => socket.write('late', resolve));
    assert(isPassing(late), String(late));
  });

  it('does not pass if it is of a file, or of this program', () => {
    assert(!isPassing(Object.assign(new Error('no such file: ca.pem'), { code: 'ENOENT' })));
    assert(!isPassing(new TypeError('Cannot read properties of undefined')));
  });
});
