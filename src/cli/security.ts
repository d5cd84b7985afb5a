import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { messageOf, PlatformError } from '../base/errors.js';
import { readManifestBytes } from '../manifest/read-file.js';
import type { ClientSecurity, Identity, ServerSecurity } from '../rpc/security.js';

export interface Security {
  readonly server: ServerSecurity;
  readonly client: ClientSecurity;
}

export const NO_SECURITY: Security = { server: {}, client: {} };

export interface SecurityFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly tokenFile?: string;
}

type Warn = (message: string) => void;

const TOKEN_VARIABLE = 'MLMODELSCOPE_TOKEN';
const TOKEN_FILE_VARIABLE = 'MLMODELSCOPE_TOKEN_FILE';

/** At least 16 characters, so that a token is too long to guess. */
const TOKEN = /^[\x21-\x7e]{16,1024}$/;

export function addSecurityOptions(program: Command): void {
  program
    .option('--tls-cert <file>', 'certificate (PEM) of this process, with its chain')
    .option('--tls-key <file>', 'private key (PEM) of --tls-cert')
    .option('--tls-ca <file>', 'certificate authorities (PEM) that sign the certificates of clients and servers')
    .option(
      '--token-file <file>',
      `file with the token; every call that changes or costs something needs it (or ${TOKEN_VARIABLE})`,
    );
}

/** systemd gives the service's user access by an ACL, which shows as a right of the group. */
function isOfSystemd(path: string, { CREDENTIALS_DIRECTORY: folder }: NodeJS.ProcessEnv): boolean {
  return folder !== undefined && dirname(resolve(path)) === resolve(folder);
}

/** Whether its group or others have one of these rights. Windows has no such modes. */
export async function mayOthers(rights: number, path: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(path)).mode & rights) !== 0;
}

async function warnOfReaders(option: string, path: string, environment: NodeJS.ProcessEnv, warn: Warn): Promise<void> {
  if (isOfSystemd(path, environment) || !(await mayOthers(0o077, path))) return;
  warn(`warning: ${option} ${path} can be read by other users; run \`chmod 600 ${path}\``);
}

export async function readOptionFile(option: string, path: string): Promise<Buffer> {
  const file = await readManifestBytes(path);
  if (file.ok) return file.bytes;
  throw new PlatformError('usage', `${option} ${path}: expected a file, found ${file.found}`);
}

async function identityFrom({ tlsCert, tlsKey }: SecurityFlags): Promise<Identity | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined) throw new PlatformError('usage', '--tls-key needs the certificate as well: --tls-cert');
  if (tlsKey === undefined) throw new PlatformError('usage', '--tls-cert needs its private key as well: --tls-key');
  return {
    certificatePem: await readOptionFile('--tls-cert', tlsCert),
    keyPem: await readOptionFile('--tls-key', tlsKey),
  };
}

/** Checks the TLS files now instead of at the first connection. */
function assertUsable(identity: Identity | undefined, caPem: Buffer | undefined): void {
  try {
    createSecureContext({ cert: identity?.certificatePem, key: identity?.keyPem, ca: caPem });
  } catch (cause) {
    const message = `--tls-cert, --tls-key and --tls-ca cannot be used for TLS (${messageOf(cause)}); give PEM files`;
    throw new PlatformError('usage', message, { cause });
  }
}

/** The file with the token: the option's, else the environment's, unless the environment holds the token itself. */
function findTokenFile({ tokenFile }: SecurityFlags, environment: NodeJS.ProcessEnv): string | undefined {
  if (tokenFile !== undefined || environment[TOKEN_VARIABLE]) return tokenFile;
  return environment[TOKEN_FILE_VARIABLE] || undefined;
}

async function tokenFrom(tokenFile: string | undefined, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const text =
    tokenFile === undefined ? environment[TOKEN_VARIABLE] : String(await readOptionFile('--token-file', tokenFile));
  if (text === undefined || (tokenFile === undefined && text === '')) return undefined;
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  const where = tokenFile === undefined ? TOKEN_VARIABLE : `--token-file ${tokenFile}`;
  const advice = 'make one with `openssl rand -hex 32`';
  throw new PlatformError('usage', `${where}: expected 16 to 1024 printable characters without spaces; ${advice}`);
}

/** @param warn called for secrets that others can read @throws PlatformError `usage` for a missing or invalid file */
export async function loadSecurity(
  flags: SecurityFlags,
  environment: NodeJS.ProcessEnv,
  warn: Warn,
): Promise<Security> {
  const identity = await identityFrom(flags);
  const caPem = flags.tlsCa === undefined ? undefined : await readOptionFile('--tls-ca', flags.tlsCa);
  assertUsable(identity, caPem);
  const tokenFile = findTokenFile(flags, environment);
  const token = await tokenFrom(tokenFile, environment);
  if (flags.tlsKey !== undefined) await warnOfReaders('--tls-key', flags.tlsKey, environment, warn);
  if (tokenFile !== undefined) await warnOfReaders('--token-file', tokenFile, environment, warn);
  return { server: { identity, clientCaPem: caPem, token }, client: { caPem, identity, token } };
}
