import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { messageOf, PlatformError } from '../base/errors.js';
import { quotedUpTo } from '../base/quoted.js';

const MAX_URL_LENGTH = 4096;
const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface UrlRules {
  readonly isAllowed: (address: string) => boolean;
  /** Follows the URL in the message. */
  readonly refusal: string;
  /** Follows the URL in the message; undefined where http:// is allowed. */
  readonly httpRefusal?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** No redirect. The reader closes it. */
export interface OpenedUrl {
  readonly url: URL;
  readonly response: http.IncomingMessage;
  close(): void;
}

function refused(url: URL | string, problem: string): PlatformError {
  const shown = String(url).replace(/\/\/[^/?#]*@/, '//…@');
  return new PlatformError('usage', `the URL ${quotedUpTo(shown, 200)} ${problem}`);
}

export function urlFailure(url: URL, problem: string, cause?: unknown): PlatformError {
  return new PlatformError('not_found', `nothing can be fetched from ${url.href.slice(0, 200)}: ${problem}`, { cause });
}

function parseUrl(text: string, { httpRefusal }: UrlRules, base?: URL): URL {
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (url === undefined) throw refused(text, `is not a URL of at most ${MAX_URL_LENGTH} letters`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url, 'is neither http:// nor https://');
  if (url.protocol === 'http:' && httpRefusal !== undefined) throw refused(url, httpRefusal);
  if (url.username !== '' || url.password !== '') throw refused(url, 'has a user name; give none');
  return url;
}

/** Fails where any of a name's addresses is not allowed. */
function guardedLookup(url: URL, { isAllowed, refusal }: UrlRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) callback(error ?? new Error(`${hostname} has no address`), '');
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(refused(url, refusal), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

async function request(url: URL, rules: UrlRules): Promise<OpenedUrl> {
  const { isAllowed, refusal, headers, signal } = rules;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // Addresses are checked when a name is resolved, so that the name cannot resolve to another address afterwards.
  if (isIP(host) !== 0 && !isAllowed(host)) throw refused(url, refusal);
  const { get } = url.protocol === 'https:' ? https : http;
  const call = get(url, {
    agent: false,
    signal,
    lookup: guardedLookup(url, rules),
    headers: { ...headers, 'accept-encoding': 'identity' },
  });
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      call.once('response', resolve);
      call.on('error', reject);
    });
    return { url, response, close: () => void call.destroy() };
  } catch (error) {
    call.destroy();
    throw error;
  }
}

/**
 * Only http and https, and allowed addresses, also for redirects and resolved names. No proxies, no cookies.
 *
 * @throws PlatformError `usage` for a URL that is refused, `not_found` where nothing answers; the connection's error
 *   after the signal
 */
export async function openUrl(text: string, rules: UrlRules): Promise<OpenedUrl> {
  let url = parseUrl(text, rules);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    let opened: OpenedUrl;
    try {
      opened = await request(url, rules);
    } catch (error) {
      if (error instanceof PlatformError || rules.signal.aborted) throw error;
      throw urlFailure(url, messageOf(error), error);
    }
    const { statusCode = 0, headers } = opened.response;
    if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
      if (['', 'identity'].includes(headers['content-encoding'] ?? '')) return opened;
      opened.close();
      throw urlFailure(url, 'it answers with a compressed body, which was not asked for');
    }
    opened.close();
    url = parseUrl(headers.location, rules, url);
  }
  throw urlFailure(url, `it redirects more than ${MAX_REDIRECTS} times`);
}
