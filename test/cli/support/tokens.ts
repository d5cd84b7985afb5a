import { createHash, randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import type { Role } from '../../../src/rpc/roles.js';
import type { Workplace } from './command.js';

export interface RoleToken {
  readonly role: Role;
  readonly token: string;
}

export function newToken(role: Role): RoleToken {
  return { role, token: randomBytes(32).toString('hex') };
}

/** The text of an access file in which each token has its role as its holder's name. JSON is YAML. */
export function accessOf(tokens: readonly RoleToken[]): string {
  const entries = tokens.map(({ role, token }) => {
    return { name: role, role, sha256: createHash('sha256').update(token).digest('hex') };
  });
  return JSON.stringify({ tokens: entries });
}

/** Writes a file that only its owner may change, for any umask of this process. */
export async function writeAccessFile(place: Workplace, text: string): Promise<string> {
  const path = await place.write('access.yml', text);
  await chmod(path, 0o600);
  return path;
}
