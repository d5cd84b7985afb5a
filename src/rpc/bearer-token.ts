import { type Metadata, ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder } from '@grpc/grpc-js';
import { PlatformError } from '../base/errors.js';
import { methodKind } from '../base/method-kind.js';
import { oneOf } from '../base/one-of.js';
import { type AcceptedToken, type AcceptedTokens, findToken, hashToken } from './accepted-tokens.js';
import { rolesFor } from './roles.js';
import type { ServerSecurity } from './security.js';
import { toStatus } from './status.js';

const HEADER = 'authorization';

const ADVICE = 'give the token by --token-file or MLMODELSCOPE_TOKEN, or as the metadata "authorization: Bearer TOKEN"';
const ADVICE_WITHOUT_ROLE = 'ask the administrator of this server for one';
const ADVICE_OVER_HTTP = 'log in, or send the header "authorization: Bearer TOKEN"';

export function addToken(metadata: Metadata, token: string): void {
  metadata.set(HEADER, `Bearer ${token}`);
}

/** @param header the value of `authorization` */
export function parseToken(header: unknown): string | undefined {
  return typeof header === 'string' ? /^bearer (?<token>\S+)$/i.exec(header)?.groups?.['token'] : undefined;
}

interface Refusal {
  readonly code: 'unauthenticated' | 'forbidden';
  readonly problem: string;
}

function unauthenticated(shown: string | undefined): Refusal {
  const problem = shown === undefined ? 'this call needs a token' : 'the token is wrong for this server';
  return { code: 'unauthenticated', problem };
}

/** @param advice how to give a token */
function toError({ code, problem }: Refusal, advice: string): PlatformError {
  return new PlatformError(code, `${problem}; ${code === 'unauthenticated' ? advice : ADVICE_WITHOUT_ROLE}`);
}

type Decide = (path: string, shown: string | undefined, holder: AcceptedToken | undefined) => Refusal | undefined;

/** With one token for everything, reads need none. */
const byOneToken: Decide = (path, shown, holder) => {
  return holder === undefined && methodKind(path) !== 'read' ? unauthenticated(shown) : undefined;
};

/** With roles, all calls need a token, except the few that every server answers without one. */
const byRole: Decide = (path, shown, holder) => {
  const allowed = rolesFor(path);
  if (allowed === 'anyone') return undefined;
  if (holder === undefined) return unauthenticated(shown);
  if (allowed.includes(holder.role)) return undefined;
  const method = path.slice(path.lastIndexOf('/') + 1);
  const problem = `${method} needs a token with the role ${oneOf(allowed)}; "${holder.name}" has the role ${holder.role}`;
  return { code: 'forbidden', problem };
};

export type TokenCheck = ReturnType<typeof check>;

export function checkToken({ token, acceptedTokens, ownToken }: ServerSecurity): TokenCheck | undefined {
  const full = (name: string, text: string | undefined): readonly AcceptedToken[] =>
    text === undefined ? [] : [{ name, role: 'full', sha256: hashToken(text) }];
  const own = full("this process's own token", ownToken);
  if (acceptedTokens !== undefined) {
    return check({ find: (shown) => findToken(shown, own) ?? acceptedTokens.find(shown) }, byRole);
  }
  if (token === undefined) return undefined;
  const known = [...full('token', token), ...own];
  return check({ find: (shown) => findToken(shown, known) }, byOneToken);
}

function check(tokens: AcceptedTokens, decide: Decide) {
  /** Names by the metadata of the call. The token itself is not passed on. */
  const holders = new WeakMap<Metadata, string>();
  /** Refuses before the server reads any message of the call. */
  const interceptor: ServerInterceptor = ({ path }, call) => {
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        const shown = parseToken(metadata.get(HEADER)[0]);
        metadata.remove(HEADER);
        const holder = shown === undefined ? undefined : tokens.find(shown);
        const refusal = decide(path, shown, holder);
        if (refusal !== undefined) {
          const { code, details } = toStatus(toError(refusal, ADVICE));
          call.sendStatus({ code, details });
          return;
        }
        if (holder !== undefined) holders.set(metadata, holder.name);
        next(metadata);
      })
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
  return {
    interceptor,
    holderOf: (metadata: Metadata): string | undefined => holders.get(metadata),
    /** For a token that came in another way, as from a browser. @param path of the method with the same effect */
    judge: (path: string, shown: string | undefined) => {
      const holder = shown === undefined ? undefined : tokens.find(shown);
      const refusal = decide(path, shown, holder);
      return { refusal: refusal && toError(refusal, ADVICE_OVER_HTTP), holder: holder?.name };
    },
  };
}
