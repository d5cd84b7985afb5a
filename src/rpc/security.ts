import type { AcceptedTokens } from './accepted-tokens.js';

export interface Identity {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
}

/** The protection of a server. Loopback needs none of it; other addresses need all but `clientCaPem`. */
export interface ServerSecurity {
  readonly identity?: Identity | undefined;
  /** Only clients with a certificate by one of these authorities are accepted (mTLS). */
  readonly clientCaPem?: Buffer | undefined;
  /** The token that calls need if they change or cost something. It is used only if there are no `acceptedTokens`. */
  readonly token?: string | undefined;
  readonly acceptedTokens?: AcceptedTokens | undefined;
  /** A further token for everything, which this process has made and accepts alone. */
  readonly ownToken?: string | undefined;
}

export interface ClientSecurity {
  readonly caPem?: Buffer | undefined;
  /** Shown to servers that ask for a certificate. */
  readonly identity?: Identity | undefined;
  /** Shown with every call; never sent over plain text beyond loopback. */
  readonly token?: string | undefined;
}
