import { getConnInfo } from '@hono/node-server/conninfo';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import http from 'node:http';
import https from 'node:https';
import { type ErrorCode, PlatformError } from '../../base/errors.js';
import { ownValue } from '../../base/own-value.js';
import { FairSemaphore } from '../../base/fair-semaphore.js';
import { addressToListenOn, type HostPort, isLoopbackAddress } from '../../rpc/loopback.js';
import type { ServerSecurity } from '../../rpc/security.js';
import { assertProtected, bind } from '../../rpc/server.js';
import { loginPage, problemPage } from '../../web/site/action-pages.js';
import { SITE_POLICY } from '../../web/site/layout.js';
import { Access } from './access.js';
import { defineOperations, READ } from './api.js';
import { EventStreams } from './events.js';
import { requireKnownKeys } from './known-keys.js';
import { Metrics } from './metrics.js';
import { API, EVENTS_PATH, OPENAPI_PATH, openApiDocument, type Operation, parsedBody } from './operation.js';
import { SharedEstimates, type WebSources } from './site-data.js';
import { Site, type Status } from './site.js';

const MIB = 2 ** 20;

/** A graph without weights takes some kilobytes to megabytes; larger submissions go over gRPC. */
const MAX_BODY_BYTES = 9 * MIB;
const MAX_FORM_BYTES = 4096;

/** Bodies that are read and answered at the same time. */
const MAX_BODIES = 8;

const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 15_000;
const MAX_HEADER_BYTES = 16 * 1024;

const STATUS_OF: Readonly<Record<ErrorCode, Status>> = {
  usage: 400,
  manifest: 400,
  model: 400,
  unsupported: 409,
  not_found: 404,
  unavailable: 503,
  exhausted: 429,
  unauthenticated: 401,
  forbidden: 403,
  timeout: 504,
  cancelled: 409,
  storage: 500,
  internal: 500,
};

const HEADERS = {
  'Content-Security-Policy': SITE_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  'Cache-Control': 'no-store',
} as const;

export interface WebLimits {
  /** Further connections are closed as they come. */
  readonly connections: number;
  /** A connection on which nothing moves is closed: of a client that reads nothing. Streams of events send comments. */
  readonly idleMs: number;
}

const LIMITS: WebLimits = { connections: 512, idleMs: 60_000 };

export interface WebServerOptions extends WebSources {
  readonly listen: HostPort;
  readonly security: ServerSecurity;
  readonly limits?: Partial<WebLimits> | undefined;
}

export type WebServer = Awaited<ReturnType<typeof startWebServer>>;

/** Values of a request, checked by the operation's schemas. @throws PlatformError `usage` */
function checked(
  schemas: NonNullable<Operation['query']>,
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = Object.entries(schemas).flatMap(([name, schema]) => {
    const { success, data } = schema.safeParse(ownValue(values, name));
    if (!success) throw new PlatformError('usage', `${name}: not a value that is expected here`);
    return data === undefined ? [] : [[name, data] as const];
  });
  return Object.fromEntries(entries);
}

const NO_BODY = 'expected a body with the content type application/json';

/** The library that limits bodies fails where there is none, and where its size is not known before. */
function requireSizedBody(c: Context): void {
  if (c.req.header('content-length') !== undefined) return;
  const problem = c.req.header('transfer-encoding') === undefined ? NO_BODY : 'expected a body with a content-length';
  throw new PlatformError('usage', problem);
}

async function readBody(c: Context, schema: Operation['body']): Promise<unknown> {
  if (schema === undefined) return undefined;
  // A form of another site can send other types without asking; see also Access.requireOwnSite.
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) throw new PlatformError('usage', NO_BODY);
  return parsedBody(await c.req.text(), schema);
}

/** Serves the pages and the API over HTTP. @throws PlatformError as the gRPC server's `listen` */
export async function startWebServer(options: WebServerOptions) {
  const { listen, security, platform, store } = options;
  const address = await addressToListenOn(listen.host);
  assertProtected(listen.host, address, security);
  const closing = new AbortController();
  const access = new Access(security, isLoopbackAddress(address));
  const estimates = new SharedEstimates(store);
  const operations = defineOperations(options, estimates);
  const streams = new EventStreams(platform, closing.signal);
  const metrics = new Metrics(options, streams);
  const site = new Site(options, estimates, access);
  const bodies = new FairSemaphore(MAX_BODIES);
  const openApi = JSON.stringify(openApiDocument(operations), null, 2);

  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    if (security.identity !== undefined) c.res.headers.set('Strict-Transport-Security', 'max-age=31536000');
    metrics.count(c.res.status);
  });
  app.use(async (c, next) => {
    access.requireOwnSite(c);
    await next();
  });
  const onMethodNotAllowed = (c: Context, methods: readonly string[]): Response | Promise<Response> => {
    const allowed = methods.join(', ');
    c.header('Allow', allowed);
    const problem = `${c.req.method} is not a method of this address; use ${allowed}`;
    return refused(c, new PlatformError('usage', problem), 405);
  };
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  const tooLarge = (): never => {
    throw new PlatformError('exhausted', `the body has more than ${MAX_BODY_BYTES / MIB} MiB; use the command line`);
  };
  const limit = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge });
  app.use('/login', bodyLimit({ maxSize: MAX_FORM_BYTES, onError: tooLarge }));
  for (const operation of operations) {
    const { method, path, call, params = {}, query = {}, body } = operation;
    // Nobody makes the server hold a body without access, and few do at the same time.
    const inTurn: MiddlewareHandler = async (c, next) => {
      access.require(c, call);
      requireKnownKeys(c, Object.keys(query));
      if (body === undefined) return next();
      requireSizedBody(c);
      return bodies.run(next, { signal: c.req.raw.signal });
    };
    app.on(method.toUpperCase(), `${API}${path.replace(/\{(\w+)\}/g, ':$1')}`, inTurn, limit, async (c) => {
      const answer = await operation.run({
        params: checked(params, c.req.param()),
        query: checked(query, c.req.query()),
        body: await readBody(c, body),
        isTrusted: access.isTrusted(c),
        signal: AbortSignal.any([c.req.raw.signal, closing.signal]),
      });
      if (!Buffer.isBuffer(answer)) return c.json(answer as object);
      return c.body(new Uint8Array(answer), 200, { 'Content-Type': 'application/json' });
    });
  }
  app.get(OPENAPI_PATH, (c) => {
    requireKnownKeys(c, []);
    return c.body(openApi, 200, { 'Content-Type': 'application/json' });
  });
  app.get(`${API}${EVENTS_PATH.replace('{id}', ':id')}`, (c) => {
    access.require(c, READ);
    requireKnownKeys(c, ['after']);
    const given = c.req.header('last-event-id') ?? c.req.query('after') ?? '0';
    if (!/^\d{1,12}$/.test(given)) throw new PlatformError('usage', 'Last-Event-ID: expected the number of an event');
    const { remote } = getConnInfo(c);
    return streams.answer(c, c.req.param('id') ?? '', Number(given), `${remote.address}:${remote.port}`);
  });
  app.get('/metrics', (c) => {
    access.require(c, READ);
    requireKnownKeys(c, []);
    return c.body(metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  site.addTo(app);
  app.notFound((c) => {
    const problem = new PlatformError('not_found', `there is nothing at this address; ${OPENAPI_PATH} lists the API`);
    return refused(c, problem);
  });
  app.onError((error, c) => refused(c, error));

  function refused(c: Context, error: unknown, other?: Status): Response | Promise<Response> {
    const code = error instanceof PlatformError ? error.code : 'internal';
    const message = error instanceof PlatformError ? error.message : 'an internal error; the server goes on';
    const status = other ?? STATUS_OF[code];
    const { path } = c.req;
    if (path.startsWith(`${API}/`) || path === '/metrics' || c.req.method === 'POST')
      return c.json({ code, message }, status);
    if (code === 'unauthenticated') return site.show(c, loginPage(message, path + new URL(c.req.url).search), 401);
    return site.show(c, problemPage(`Error ${status}`, message), status);
  }

  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const timeouts = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const common = { maxHeaderSize: MAX_HEADER_BYTES, ...timeouts };
  const { identity, clientCaPem } = security;
  const onRequest = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    void listener(request, response);
  };
  const isClientChecked = clientCaPem !== undefined;
  const clients = { ca: clientCaPem, requestCert: isClientChecked, rejectUnauthorized: isClientChecked };
  const server =
    identity === undefined
      ? http.createServer(common, onRequest)
      : https.createServer({ ...common, ...clients, cert: identity.certificatePem, key: identity.keyPem }, onRequest);
  const { connections, idleMs } = { ...LIMITS, ...options.limits };
  server.maxConnections = connections;
  server.timeout = idleMs;
  return {
    address: await bind(server, listen, address),
    close: async (): Promise<void> => {
      closing.abort(new PlatformError('unavailable', 'the server is shutting down'));
      metrics.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
