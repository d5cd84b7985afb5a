import { createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from './roles.js';

export interface AcceptedToken {
  readonly name: string;
  readonly role: Role;
  readonly sha256: Buffer;
}

export interface AcceptedTokens {
  find(token: string): AcceptedToken | undefined;
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Compares all tokens, in a time that does not depend on where they differ. */
export function findToken(shown: string, tokens: readonly AcceptedToken[]): AcceptedToken | undefined {
  const digest = hashToken(shown);
  return tokens.filter(({ sha256 }) => timingSafeEqual(sha256, digest))[0];
}
