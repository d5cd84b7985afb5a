import { Option } from 'commander';
import { unwatchFile, watchFile } from 'node:fs';
import { z } from 'zod';
import { messageOf, PlatformError } from '../base/errors.js';
import { type ManifestDocument, problemAt } from '../manifest/document.js';
import { type Problem, manifestError } from '../manifest/problem.js';
import { checkedYamlFile } from '../manifest/validate.js';
import { type AcceptedToken, type AcceptedTokens, findToken } from '../rpc/accepted-tokens.js';
import { ROLES } from '../rpc/roles.js';
import type { ServerSecurity } from '../rpc/security.js';
import type { OwnedHost } from './host.js';
import { mayOthers, readOptionFile } from './security.js';

const OPTION = '--access-file';

export function accessFileOption(): Option {
  return new Option(
    `${OPTION} <file>`,
    'tokens that are accepted, each with a role (docs/security.md); changes need no restart',
  ).env('MLMODELSCOPE_ACCESS_FILE');
}

/** Far more than a team has. Each call's token is compared with all of them. */
const MAX_TOKENS = 1000;

const accessSchema = z.strictObject({
  tokens: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/, 'up to 100 letters, digits and . _ @ -'),
        role: z.enum(ROLES),
        /** Hash of the token, without the end of its line. */
        sha256: z.string().regex(/^[0-9a-f]{64}$/, 'the SHA-256 of a token: 64 digits and letters from a to f'),
      }),
    )
    .min(1)
    .max(MAX_TOKENS),
});

type Access = z.output<typeof accessSchema>;

/** A name stands for one token, and a token has one role. */
function repetitions(document: ManifestDocument, { tokens }: Access): readonly Problem[] {
  return (['name', 'sha256'] as const).flatMap((key) => {
    const seen = new Set<string>();
    return tokens.flatMap((token, index) => {
      if (!seen.has(token[key])) return (seen.add(token[key]), []);
      return [problemAt(document, ['tokens', index, key], `another ${key} for each token`, 'the same twice')];
    });
  });
}

/** A user who can change the file can give themselves every role. */
async function assertProtected(path: string): Promise<void> {
  if (!(await mayOthers(0o022, path))) return;
  throw new PlatformError('usage', `${OPTION} ${path} can be changed by other users; run \`chmod go-w ${path}\``);
}

/** @throws PlatformError `manifest` with the place in the file, `usage` where others can change it */
export async function readAccessFile(path: string): Promise<readonly AcceptedToken[]> {
  const bytes = await readOptionFile(OPTION, path);
  await assertProtected(path);
  const { document, data } = checkedYamlFile(path, bytes, accessSchema);
  const repeated = repetitions(document, data);
  if (repeated.length > 0) throw manifestError(repeated);
  return data.tokens.map(({ sha256, ...token }) => ({ ...token, sha256: Buffer.from(sha256, 'hex') }));
}

/** Interval between two checks of the file's times and size. */
const LOOK_MS = 1000;

/** Read again after each change. Where the changed file is invalid, the previous tokens stay. */
async function openAccessFile(path: string, host: OwnedHost): Promise<AcceptedTokens> {
  let tokens = await readAccessFile(path);
  const readAgain = (): void => {
    readAccessFile(path).then(
      (changed) => {
        tokens = changed;
        host.print(`${path} has changed; tokens that are accepted from now on: ${tokens.length}\n`);
      },
      (error: unknown) => host.warn(`warning: ${messageOf(error)}; the tokens from before stay accepted`),
    );
  };
  watchFile(path, { interval: LOOK_MS, persistent: false }, readAgain);
  host.signal.addEventListener('abort', () => unwatchFile(path, readAgain), { once: true });
  return { find: (shown) => findToken(shown, tokens) };
}

/** @throws PlatformError as {@link readAccessFile} */
export async function serverSecurity(path: string | undefined, host: OwnedHost): Promise<ServerSecurity> {
  const { server } = host.security;
  return path === undefined ? server : { ...server, acceptedTokens: await openAccessFile(path, host) };
}
