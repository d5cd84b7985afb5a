import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import { createHash, timingSafeEqual } from 'node:crypto';
import { methodKind } from '../base/method-kind.js';

const HEADER = 'authorization';

const ADVICE = 'give the token by --token-file or MLMODELSCOPE_TOKEN, or as the metadata "authorization: Bearer TOKEN"';

export function addToken(metadata: Metadata, token: string): void {
  metadata.set(HEADER, `Bearer ${token}`);
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function tokenOf(metadata: Metadata): string | undefined {
  const [value] = metadata.get(HEADER);
  return typeof value === 'string' ? /^bearer (?<token>\S+)$/i.exec(value)?.groups?.['token'] : undefined;
}

/** The token check of a server. */
export interface TokenCheck {
  /** Refuses calls that are no reads and show no or another token, before anything of their messages is read. */
  readonly interceptor: ServerInterceptor;
  /** Whether the call that came with this metadata has shown the token. */
  isShownWith(metadata: Metadata): boolean;
}

export function checkToken(token: string): TokenCheck {
  /** Calls that have shown the token. The token itself is not passed on. */
  const shownWith = new WeakSet<Metadata>();
  const interceptor: ServerInterceptor = ({ path }, call) => {
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        const shown = tokenOf(metadata);
        metadata.remove(HEADER);
        if (shown !== undefined && isSame(shown, token)) shownWith.add(metadata);
        else if (methodKind(path) !== 'read') {
          const what = shown === undefined ? 'this call needs a token' : 'the token is wrong for this server';
          call.sendStatus({ code: status.UNAUTHENTICATED, details: `${what}; ${ADVICE}` });
          return;
        }
        next(metadata);
      })
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
  return { interceptor, isShownWith: (metadata) => shownWith.has(metadata) };
}
