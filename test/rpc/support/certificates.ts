import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Identity } from '../../../src/rpc/security.js';

/** A certificate authority for a test, with files for command lines. */
export interface Authority {
  readonly folder: string;
  readonly caPem: Buffer;
  /** For servers and clients. */
  readonly identity: Identity;
}

function openssl(folder: string, ...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Writes ca.pem, cert.pem and key.pem; the authority signs the certificate, for localhost and further addresses. */
export function makeAuthority(folder: string, addresses: readonly string[] = []): Authority {
  const names = ['DNS:localhost', ...['127.0.0.1', ...addresses].map((address) => `IP:${address}`)];
  openssl(folder, 'req', '-x509', ...KEY, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test');
  openssl(folder, 'req', ...KEY, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=localhost', '-addext',
    `subjectAltName=${names.join(',')}`); // prettier-ignore
  openssl(folder, 'x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial',
    '-copy_extensions', 'copy', '-out', 'cert.pem', '-days', '2'); // prettier-ignore
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  return { folder, caPem: read('ca.pem'), identity: { certificatePem: read('cert.pem'), keyPem: read('key.pem') } };
}

/** An authority for all tests of a suite; the returned function gives it inside of a test. */
export function authorityForSuite(): () => Authority {
  let authority: Authority | undefined;
  before(() => {
    authority = makeAuthority(mkdtempSync(join(tmpdir(), 'authority-test-')));
  });
  after(() => {
    if (authority !== undefined) rmSync(authority.folder, { recursive: true, force: true });
  });
  return () => {
    if (authority === undefined) throw new Error('only inside of a test');
    return authority;
  };
}
