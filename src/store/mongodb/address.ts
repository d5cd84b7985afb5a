import { MongoClient, type MongoClientOptions } from 'mongodb';
import { messageOf, PlatformError } from '../../base/errors.js';

/** Characters that no database's name may have (MongoDB's manual, "Naming Restrictions"), and its limit in bytes. */
const FORBIDDEN = /[/\\. "$*<>:|?\0]/;
const MAX_NAME_BYTES = 63;

const EXAMPLE = 'mongodb://HOST/DATABASE';

/** Parses a URI without connecting. @throws PlatformError `usage`, without repeating the URI: it may hold a password */
export function mongoAddress(uri: string, options: MongoClientOptions) {
  const database = databaseIn(uri);
  const newClient = (): MongoClient => new MongoClient(uri, options);
  let parsed: MongoClient['options'];
  try {
    parsed = newClient().options;
  } catch (cause) {
    throw wrong(`the driver does not understand its URI: ${withoutSecrets(messageOf(cause), uri)}`);
  }
  const { hosts, srvHost } = parsed;
  const servers = srvHost ?? hosts.map((host) => host.toString()).join(',');
  return { newClient, database, text: `${srvHost === undefined ? 'mongodb' : 'mongodb+srv'}://${servers}/${database}` };
}

function databaseIn(uri: string): string {
  const path = /^[^:]+:\/\/[^/?]*\/([^?]*)/.exec(uri)?.[1] ?? '';
  if (path === '') throw wrong(`its URI names no database; write it as ${EXAMPLE}`);
  const name = decoded(path);
  if (name === undefined || FORBIDDEN.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw wrong(
      `no database can have the name in its URI: up to ${MAX_NAME_BYTES} bytes without / \\ . " $ * < > : | ? and spaces`,
    );
  }
  return name;
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The driver's messages may quote parts of the URI. */
function withoutSecrets(message: string, uri: string): string {
  const credentials = /^[^:]+:\/\/([^/?]*)@/.exec(uri)?.[1] ?? '';
  const secrets = [credentials, ...credentials.split(':')].filter((secret) => secret.length > 0);
  return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), message);
}

function wrong(why: string): PlatformError {
  return new PlatformError('usage', `The store cannot be opened: ${why}.`);
}
