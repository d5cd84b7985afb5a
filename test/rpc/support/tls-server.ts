import { once } from 'node:events';
import { createServer } from 'node:tls';
import type { TestContext } from 'node:test';
import type { AddressInfo } from 'node:net';
import { temporaryFolder } from '../../store/temporary-folder.js';
import { makeAuthority } from './certificates.js';

/** A server that shows a certificate of an authority that no one knows, and does nothing else. @returns host:port */
export async function startTlsServer(t: TestContext): Promise<string> {
  const { identity, caPem } = makeAuthority(await temporaryFolder(t));
  const cert = Buffer.concat([identity.certificatePem, caPem]);
  const server = createServer({ key: identity.keyPem, cert }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
