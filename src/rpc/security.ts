/** A certificate with its chain, and its private key, both PEM. */
export interface Identity {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
}

/** How a server is protected. Nothing of it is needed on loopback, all but `clientCaPem` elsewhere. */
export interface ServerSecurity {
  /** Turns TLS on. */
  readonly identity?: Identity | undefined;
  /** Only clients with a certificate that one of these authorities issued are let in (mTLS). */
  readonly clientCaPem?: Buffer | undefined;
  /** What calls that change or cost something have to show. */
  readonly token?: string | undefined;
}

/** How a client meets servers. Whatever is not on loopback is spoken to over TLS in any case. */
export interface ClientSecurity {
  /** The authorities that servers' certificates come from; without it those that Node.js trusts. */
  readonly caPem?: Buffer | undefined;
  /** Shown to servers that ask for a certificate. */
  readonly identity?: Identity | undefined;
  /** Shown with every call; never sent over plain text beyond loopback. */
  readonly token?: string | undefined;
}
