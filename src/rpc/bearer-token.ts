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

/** Compares in a time that says nothing about where the texts differ. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function tokenOf(metadata: Metadata): string | undefined {
  const [value] = metadata.get(HEADER);
  return typeof value === 'string' ? /^bearer (?<token>\S+)$/i.exec(value)?.groups?.['token'] : undefined;
}

/** Refuses calls that are no reads and show no or another token, before anything of their messages is read. */
export function requireToken(token: string): ServerInterceptor {
  return ({ path }, call) => {
    if (methodKind(path) === 'read') return new ServerInterceptingCall(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        const shown = tokenOf(metadata);
        if (shown !== undefined && isSame(shown, token)) {
          metadata.remove(HEADER);
          next(metadata);
          return;
        }
        const what = shown === undefined ? 'this call needs a token' : 'the token is not the one of this server';
        call.sendStatus({ code: status.UNAUTHENTICATED, details: `${what}; ${ADVICE}` });
      })
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}
