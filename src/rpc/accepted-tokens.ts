import { createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from './roles.js';

/** A token that a server accepts, by its SHA-256: the token itself is with its holder only. */
export interface AcceptedToken {
  /** The name of its holder, for messages. */
  readonly name: string;
  readonly role: Role;
  readonly sha256: Buffer;
}

/** The tokens that a server accepts. They may be others from one call to the next. */
export interface AcceptedTokens {
  /** undefined for a token that is not accepted. Takes a time that does not depend on the token. */
  find(token: string): AcceptedToken | undefined;
}

export function sha256Of(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The one of the tokens that was shown. All are compared, in a time that does not depend on where they differ. */
export function findToken(shown: string, tokens: readonly AcceptedToken[]): AcceptedToken | undefined {
  const digest = sha256Of(shown);
  return tokens.filter(({ sha256 }) => timingSafeEqual(sha256, digest))[0];
}
