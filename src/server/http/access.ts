import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { PlatformError } from '../../base/errors.js';
import { hashToken } from '../../rpc/accepted-tokens.js';
import { checkToken, parseToken, type TokenCheck } from '../../rpc/bearer-token.js';
import { isLoopbackHost, parseHostPort } from '../../rpc/loopback.js';
import type { ServerSecurity } from '../../rpc/security.js';

const SESSION_MS = 12 * 60 * 60_000;
const MAX_SESSIONS = 1000;

interface Session {
  readonly token: string;
  readonly endMs: number;
}

/**
 * Who may do what. A browser shows its token once, and gets a cookie with the id of a session. Each request of it is
 * judged by its token anew, so that a token that is no longer accepted ends its sessions.
 */
export class Access {
  readonly #check: TokenCheck | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #isTls: boolean;
  readonly #cookie: string;

  constructor(
    security: ServerSecurity,
    /** Whether only this machine reaches the server, which then answers to names of this machine alone. */
    private readonly isLoopback: boolean,
  ) {
    this.#check = checkToken(security);
    this.#isTls = security.identity !== undefined;
    // With this prefix, browsers take the cookie over TLS only, and from this host only.
    this.#cookie = this.#isTls ? '__Host-session' : 'session';
  }

  get hasTokens(): boolean {
    return this.#check !== undefined;
  }

  /** Refuses what another site makes a browser send: to a name of its own that leads here, or with an effect. */
  requireOwnSite(c: Context): void {
    const host = c.req.header('host') ?? '';
    // The port is optional.
    const named = parseHostPort(host) ?? parseHostPort(`${host}:0`);
    if (this.isLoopback && !isLoopbackHost(named?.host ?? '')) {
      throw new PlatformError('forbidden', 'this server answers to 127.0.0.1, [::1] and localhost only');
    }
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return;
    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    const isOwn =
      (origin === undefined || origin === `${this.#isTls ? 'https' : 'http'}://${host}`) &&
      (site === undefined || site === 'same-origin');
    if (!isOwn) throw new PlatformError('forbidden', 'this request came from a page of another site');
  }

  /** @param method path of the gRPC method with the same effect @throws PlatformError where it is not allowed */
  require(c: Context, method: string): void {
    const refusal = this.#judge(c, method)?.refusal;
    if (refusal !== undefined) throw refusal;
  }

  isAllowed(c: Context, method: string): boolean {
    return this.#judge(c, method)?.refusal === undefined;
  }

  /** Whether the request has shown an accepted token, or none is needed: then it may see results. */
  isTrusted(c: Context): boolean {
    return this.#check === undefined || this.holderOf(c) !== undefined;
  }

  holderOf(c: Context): string | undefined {
    return this.#judge(c, '')?.holder;
  }

  /** @returns whether the token is accepted */
  logIn(c: Context, token: string): boolean {
    if (this.#check?.judge('', token).holder === undefined) return false;
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(hashToken(id).toString('hex'), { token, endMs: performance.now() + SESSION_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    setCookie(c, this.#cookie, id, {
      httpOnly: true,
      sameSite: 'Strict',
      secure: this.#isTls,
      path: '/',
      maxAge: SESSION_MS / 1000,
    });
    return true;
  }

  logOut(c: Context): void {
    const id = getCookie(c, this.#cookie);
    if (id !== undefined) this.#sessions.delete(hashToken(id).toString('hex'));
    deleteCookie(c, this.#cookie, { path: '/', secure: this.#isTls });
  }

  #judge(c: Context, method: string): ReturnType<TokenCheck['judge']> | undefined {
    return this.#check?.judge(method, this.#findToken(c));
  }

  #findToken(c: Context): string | undefined {
    const shown = parseToken(c.req.header('authorization'));
    if (shown !== undefined) return shown;
    const id = getCookie(c, this.#cookie);
    if (id === undefined) return undefined;
    const key = hashToken(id).toString('hex');
    const session = this.#sessions.get(key);
    if (session === undefined || session.endMs > performance.now()) return session?.token;
    this.#sessions.delete(key);
    return undefined;
  }
}
