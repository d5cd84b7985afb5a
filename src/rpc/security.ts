import type { AcceptedTokens } from './accepted-tokens.js';

export interface Identity {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
}

/** Loopback needs none of it; other addresses need all but `clientCaPem`. */
export interface ServerSecurity {
  readonly identity?: Identity | undefined;
  /** Only clients with a certificate by one of these authorities are accepted (mTLS). */
  readonly clientCaPem?: Buffer | undefined;
  /** For calls that change or cost something; used only without `acceptedTokens`. */
  readonly token?: string | undefined;
  readonly acceptedTokens?: AcceptedTokens | undefined;
  /** For everything; made and accepted by this process alone. */
  readonly ownToken?: string | undefined;
}

export interface ClientSecurity {
  readonly caPem?: Buffer | undefined;
  readonly identity?: Identity | undefined;
  /** Never sent over plain text beyond loopback. */
  readonly token?: string | undefined;
}
