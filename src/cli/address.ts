import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXPECTED_ADDRESS, type HostPort, parseHostPort } from '../rpc/loopback.js';

export function parseAddress(text: string): HostPort {
  const address = parseHostPort(text);
  if (address !== undefined) return address;
  throw new InvalidArgumentError(EXPECTED_ADDRESS);
}

/** Names the platform's server for commands without `--server`. */
export const SERVER_VARIABLE = 'MLMODELSCOPE_SERVER';

export function serverOption(description: string): Option {
  return new Option('--server <host:port>', description).argParser(parseAddress).env(SERVER_VARIABLE);
}

/** Without a server from the environment where other options say where to work. */
export function withoutUnwantedServer<Flags extends { readonly server?: HostPort }>(
  flags: Flags,
  isElsewhere: boolean,
  command: Command,
): Flags {
  const isUnwanted = isElsewhere && command.getOptionValueSource('server') === 'env';
  return isUnwanted ? { ...flags, server: undefined } : flags;
}

export function serversOption(description: string): Option {
  const parse = (text: string): readonly HostPort[] => text.split(',').map((address) => parseAddress(address));
  return new Option('--server <host:port,...>', description).argParser(parse).env(SERVER_VARIABLE);
}

/** An option that is HOST:PORT, with a default that help shows as it is typed. */
export function addressOption(flags: string, description: string, address: string): Option {
  return new Option(flags, description).argParser(parseAddress).default(parseAddress(address), address);
}
