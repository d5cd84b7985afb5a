import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { messageOf, PlatformError } from '../base/errors.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[(?<ipv6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]/\s]+)):(?<port>\d{1,5})$/.exec(text);
  const host = match?.groups?.['ipv6'] ?? match?.groups?.['name'];
  const port = Number(match?.groups?.['port']);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** Of an address that parseHostPort does not accept. */
export const EXPECTED_ADDRESS = 'expected HOST:PORT, for example 127.0.0.1:7070 or [::1]:7070';

export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export async function addressToListenOn(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    const message = `cannot listen on ${host}: ${messageOf(cause)}; choose another address`;
    throw new PlatformError('unavailable', message, { cause });
  }
}
