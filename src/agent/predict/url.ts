import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';
import { messageOf, PlatformError } from '../../base/errors.js';

const MAX_URL_LENGTH = 4096;
const MAX_REDIRECTS = 5;

/** For one URL, its redirects included. */
const FETCH_LIMIT_MS = 30_000;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface FetchOptions {
  readonly maxBytes: number;
  /** Whether this agent may connect to an IP address. */
  readonly isAllowed: (address: string) => boolean;
  readonly signal: AbortSignal;
}

/** Refused for its address, before any request. */
function refused(url: URL | string, problem: string): PlatformError {
  return new PlatformError('usage', `the URL ${JSON.stringify(String(url).slice(0, 200))} ${problem}`);
}

function failed(url: URL, problem: string, cause?: unknown): PlatformError {
  return new PlatformError('not_found', `nothing can be fetched from ${url.href.slice(0, 200)}: ${problem}`, { cause });
}

const INSIDE = 'points at this machine or inside of a network, which this agent does not fetch from';

/** @throws PlatformError `usage` */
function parseUrl(text: string, base?: URL): URL {
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (url === undefined) throw refused(text, `is not a URL of at most ${MAX_URL_LENGTH} letters`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url, 'is neither http:// nor https://');
  if (url.username !== '' || url.password !== '') throw refused(url, 'has a user name; give none');
  return url;
}

/** Resolves names like the system does, and fails where any of a name's addresses is not allowed. */
function guardedLookup(url: URL, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) callback(error ?? new Error(`${hostname} has no address`), '');
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(refused(url, INSIDE), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Content of an answer, or target of its redirect. */
type Answer = { readonly bytes: Buffer } | { readonly location: string };

function readAnswer(
  url: URL,
  response: http.IncomingMessage,
  { maxBytes, signal }: Pick<FetchOptions, 'maxBytes' | 'signal'>,
): Promise<Answer> {
  const { statusCode = 0, headers } = response;
  if (REDIRECTS.has(statusCode) && headers.location !== undefined) {
    return Promise.resolve({ location: headers.location });
  }
  if (statusCode !== 200) return Promise.reject(failed(url, `it answers with status ${statusCode}`));
  if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) {
    return Promise.reject(failed(url, 'it answers with a compressed body, which was not asked for'));
  }
  const tooLarge = failed(url, `it is larger than ${maxBytes} bytes`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    response.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > maxBytes) reject(tooLarge);
      else pieces.push(piece);
    });
    response.on('end', () => {
      // An answer that does not say how long it is ends with its connection, which the signal ends as well.
      if (signal.aborted) reject(failed(url, 'its answer did not end in time'));
      else resolve({ bytes: Buffer.concat(pieces) });
    });
    response.on('error', reject);
    response.on('aborted', () => reject(failed(url, 'the connection broke')));
  });
}

async function request(url: URL, { maxBytes, isAllowed, signal }: FetchOptions): Promise<Answer> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // Addresses are checked when a name is resolved, so that the name cannot resolve to another address afterwards.
  if (isIP(host) !== 0 && !isAllowed(host)) throw refused(url, INSIDE);
  const { get } = url.protocol === 'https:' ? https : http;
  const call = get(url, {
    agent: false,
    signal,
    lookup: guardedLookup(url, isAllowed),
    headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'mlmodelscope-agent' },
  });
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      call.once('response', resolve);
      call.on('error', reject);
    });
    return await readAnswer(url, response, { maxBytes, signal });
  } finally {
    call.destroy();
  }
}

/**
 * Fetches a URL: only http and https, and only from allowed addresses, which holds for redirects and resolved names as well. Proxies and cookies are not used.
 *
 * @throws PlatformError `usage` for a URL that is refused, `not_found` where there is nothing of at most that size,
 *   `timeout` after 30 s, and what the signal was aborted with
 */
export async function fetchUrl(text: string, options: FetchOptions): Promise<Buffer> {
  const tooLate = AbortSignal.timeout(FETCH_LIMIT_MS);
  const signal = AbortSignal.any([options.signal, tooLate]);
  let url = parseUrl(text);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    throwIfCancelled(options.signal);
    try {
      const answer = await request(url, { ...options, signal });
      if ('bytes' in answer) return answer.bytes;
      url = parseUrl(answer.location, url);
    } catch (error) {
      if (options.signal.aborted) throw cancellationOf(options.signal);
      if (tooLate.aborted) {
        throw new PlatformError(
          'timeout',
          `${url.href.slice(0, 200)} did not answer within ${FETCH_LIMIT_MS / 1000} s`,
        );
      }
      if (error instanceof PlatformError) throw error;
      throw failed(url, messageOf(error), error);
    }
  }
  throw failed(url, `it redirects more than ${MAX_REDIRECTS} times`);
}
