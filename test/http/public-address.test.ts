import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { isPublicAddress } from '../../src/http/public-address.js';

// Addresses of public name servers.
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '9.9.9.9',
  '172.15.255.255',
  '172.32.0.1',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
];

const INSIDE: readonly (readonly [string, string])[] = [
  ['this machine', '127.0.0.1'],
  ['this machine', '127.255.255.254'],
  ['this machine', '0.0.0.0'],
  ['this machine', '::1'],
  ['this machine', '::'],
  ['a private network', '10.1.2.3'],
  ['a private network', '172.16.0.1'],
  ['a private network', '172.31.255.255'],
  ['a private network', '192.168.1.1'],
  ['a private network', 'fd00::1'],
  ['a carrier’s network', '100.64.0.1'],
  ['a cloud’s metadata service', '169.254.169.254'],
  ['a cloud’s metadata service', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['link-local, with a zone', 'fe80::1%eth0'],
  ['multicast', '224.0.0.1'],
  ['multicast', 'ff02::1'],
  ['broadcast', '255.255.255.255'],
  ['documentation', '203.0.113.5'],
  ['documentation', '2001:db8::1'],
  ['IPv4 as IPv6', '::ffff:127.0.0.1'],
  ['IPv4 as IPv6', '::ffff:a00:1'],
  ['IPv4 as IPv6', '::127.0.0.1'],
  ['translated IPv4', '64:ff9b::7f00:1'],
  ['tunnelled IPv4', '2002:7f00:1::'],
  ['tunnelled IPv4', '2001:0:7f00:1::'],
  ['site-local', 'fec0::1'],
  ['no address', 'localhost'],
  ['no address', ''],
];

for (const address of PUBLIC) {
  test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
}

for (const [what, address] of INSIDE) {
  test(`${address || '(nothing)'} is not public: ${what}`, () => assert.equal(isPublicAddress(address), false));
}

test('no address of this machine is public', () => {
  for (const { address } of Object.values(networkInterfaces()).flatMap((own) => own ?? [])) {
    assert.equal(isPublicAddress(address), false, address);
  }
});
