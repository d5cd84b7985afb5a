import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { isPublicAddress } from '../../../src/http/public-address.js';
import { fetchUrl } from '../../../src/agent/predict/url.js';
import { type ErrorCode, PlatformError } from '../../../src/base/errors.js';

const MAX_BYTES = 1000;

/** How the server of these tests answers, by path. */
const ANSWERS: Readonly<Record<string, RequestListener>> = {
  // The answer ends when the connection ends.
  '/slow-without-length': (_, response) => {
    response.removeHeader('transfer-encoding');
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { connection: 'close' });
    response.write('0123');
  },
  '/ten': (_, response) => response.end('0123456789'),
  '/as-large-as-may-be': (_, response) => response.end(Buffer.alloc(MAX_BYTES)),
  '/said-to-be-large': (_, response) => response.writeHead(200, { 'content-length': 2 ** 30 }).write('x'),
  '/without-end': (_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 16)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  '/never': () => {},
  '/slowly': (_, response) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  },
  '/broken': (_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('x');
    setTimeout(() => response.destroy(), 50);
  },
  '/packed': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  '/once': (_, response) => response.writeHead(302, { location: '/ten' }).end(),
  '/for-ever': (_, response) => response.writeHead(301, { location: '/for-ever' }).end(),
  '/inside': (_, response) => response.writeHead(307, { location: 'http://127.0.0.2:1/' }).end(),
  '/metadata': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/headers': (request, response) => response.end(JSON.stringify(request.headers)),
};

describe('fetching a URL', { timeout: 30_000 }, () => {
  let server: Server;
  let origin: string;
  before(async () => {
    server = createServer((request, response) => {
      const answer = ANSWERS[request.url ?? ''];
      if (answer === undefined) response.writeHead(404).end();
      else answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Fetches with only the address of the server allowed. */
  function fetch(url: string, signal = new AbortController().signal): Promise<Buffer> {
    return fetchUrl(url, { maxBytes: MAX_BYTES, isAllowed: (address) => address === '127.0.0.1', signal });
  }

  test('gets its bytes', async () => {
    assert.equal(String(await fetch(`${origin}/ten`)), '0123456789');
    assert.equal((await fetch(`${origin}/as-large-as-may-be`)).length, MAX_BYTES);
  });

  test('does not take the first part of a slow answer for the whole answer', async () => {
    const tooLong = new AbortController();
    const fetched = fetch(`${origin}/slow-without-length`, tooLong.signal);
    setTimeout(() => tooLong.abort(new PlatformError('cancelled', 'too long')), 200);
    await assertRefused(fetched, 'cancelled', /too long/);
  });

  test('follows a redirect', async () => {
    assert.equal(String(await fetch(`${origin}/once`)), '0123456789');
  });

  test('resolves names', async () => {
    assert.equal(String(await fetch(`${origin.replace('127.0.0.1', 'localhost')}/ten`)), '0123456789');
  });

  test('sends no headers that identify the client', async () => {
    const headers = JSON.parse(String(await fetch(`${origin}/headers`))) as Record<string, string>;
    assert.deepEqual(Object.keys(headers).sort(), ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  });

  const failing: readonly [string, ErrorCode, RegExp][] = [
    ['/missing', 'not_found', /status 404/],
    ['/said-to-be-large', 'not_found', /larger than 1000 bytes/],
    ['/without-end', 'not_found', /larger than 1000 bytes/],
    ['/broken', 'not_found', /nothing can be fetched/],
    ['/packed', 'not_found', /compressed/],
    ['/for-ever', 'not_found', /redirects more than 5 times/],
    ['/inside', 'usage', /"http:\/\/127\.0\.0\.2:1\/" points at this machine or inside of a network/],
    ['/metadata', 'usage', /169\.254\.169\.254.* points at this machine or inside/],
    ['/file', 'usage', /neither http/],
  ];
  for (const [path, code, message] of failing) {
    test(`${path} fails`, async () => {
      await assertRefused(fetch(origin + path), code, message);
    });
  }

  for (const path of ['/never', '/slowly']) {
    test(`${path} ends when its caller aborts`, async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new PlatformError('timeout', 'that is enough')), 100);
      await assertRefused(fetch(origin + path, controller.signal), 'timeout', /that is enough/);
    });
  }

  test('an address without a listener fails', async () => {
    await assertRefused(fetch('http://127.0.0.1:1/'), 'not_found', /ECONNREFUSED/);
    await assertRefused(fetch('http://nothing.invalid/'), 'not_found', /nothing can be fetched/);
  });

  const never: readonly string[] = [
    'file:///etc/passwd',
    'ftp://example.org/picture.jpg',
    'gopher://127.0.0.1:70/',
    'data:image/png;base64,AAAA',
    'javascript:1',
    '/etc/passwd',
    'picture.jpg',
    '',
    'http://',
    'http://user:word@example.org/',
    `http://example.org/${'x'.repeat(5000)}`,
  ];
  for (const url of never) {
    test(`refuses ${url.slice(0, 40) || '(nothing)'} even where all addresses are allowed`, async () => {
      const options = { maxBytes: MAX_BYTES, isAllowed: () => true, signal: new AbortController().signal };
      await assertRefused(fetchUrl(url, options), 'usage');
    });
  }

  const inside: readonly string[] = [
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://0/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1:22/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'https://192.168.0.1/',
    'http://[fd00:ec2::254]/',
    'http://１２７.0.0.1/',
  ];
  for (const url of inside) {
    test(`refuses ${url} by default`, async () => {
      const options = { maxBytes: MAX_BYTES, isAllowed: isPublicAddress, signal: new AbortController().signal };
      await assertRefused(fetchUrl(url, options), 'usage', /points at this machine or inside of a network/);
    });
  }
});
