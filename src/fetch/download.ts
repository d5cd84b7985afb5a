import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { cancellationOf } from '../base/cancellation.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { openUrl, type OpenedUrl, urlFailure, type UrlRules } from '../http/open-url.js';
import type { Part } from './part.js';

export interface DownloadRules {
  readonly isAllowed: (address: string) => boolean;
  readonly allowHttp: boolean;
  readonly maxBytes: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** @param total undefined where the server does not say it */
  readonly onProgress: (bytes: number, total: number | undefined) => void;
}

/** A server that sends nothing for this long has stopped. */
const STALLED_MS = 60_000;

const CONTINUES = 'the same command continues';

const RULES = {
  refusal:
    'points at this machine or inside of a network, which is not fetched from; --allow-private-urls fetches from there',
  headers: { accept: '*/*', 'user-agent': 'mlmodelscope' },
} as const satisfies Partial<UrlRules>;

const NO_HTTP = 'is not https://; --allow-http accepts files that others can change on the way';

function tooLarge(url: URL, maxBytes: number): PlatformError {
  const gib = (maxBytes / 2 ** 30).toPrecision(3);
  return new PlatformError('usage', `${url.href.slice(0, 200)} is larger than ${gib} GiB; --max-gib N allows more`);
}

/** Different for different contents at an address. */
function validatorOf({ etag, 'last-modified': modified }: IncomingHttpHeaders): string | undefined {
  return etag !== undefined && !etag.startsWith('W/') ? etag : modified;
}

function parseRange({ headers }: IncomingMessage): { readonly start: number; readonly total: number } | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return start === undefined ? undefined : { start: Number(start), total: Number(total) };
}

async function openRest(text: string, part: Part, rules: UrlRules): Promise<OpenedUrl & { readonly total?: number }> {
  const length = await part.byteLength();
  const state = await part.state();
  const canContinue = length > 0 && state?.url === text;
  const range = canContinue ? { range: `bytes=${length}-`, 'if-range': state.validator } : {};
  const opened = await openUrl(text, { ...rules, headers: { ...rules.headers, ...range } });
  const { url, response } = opened;
  const { statusCode = 0 } = response;
  const found = statusCode === 206 ? parseRange(response) : undefined;
  if (found !== undefined && canContinue && found.start === length) return { ...opened, total: found.total };
  if (statusCode === 200) {
    const validator = validatorOf(response.headers);
    await part.restart(validator === undefined ? undefined : { url: text, validator });
    const total = response.headers['content-length'];
    return total === undefined ? opened : { ...opened, total: Number(total) };
  }
  opened.close();
  if (!canContinue) throw urlFailure(url, `it answers with status ${statusCode}`);
  // The server cannot continue this part, so the download begins again.
  await part.restart(undefined);
  return openRest(text, part, rules);
}

async function readRest(
  { url, response, total }: OpenedUrl & { readonly total?: number },
  part: Part,
  { maxBytes, onProgress }: DownloadRules,
  onPiece: () => void,
): Promise<void> {
  if ((total ?? 0) > maxBytes) throw tooLarge(url, maxBytes);
  let length = await part.byteLength();
  for await (const piece of response as AsyncIterable<Buffer>) {
    onPiece();
    length += piece.length;
    if (length > maxBytes) throw tooLarge(url, maxBytes);
    await part.content.appendFile(piece);
    onProgress(length, total);
  }
  if (total !== undefined && length !== total) {
    throw urlFailure(url, `the connection broke after ${length} of ${total} bytes; ${CONTINUES}`);
  }
}

/**
 * Fetches only the rest if an earlier process fetched the beginning. If it fails, the received bytes stay in the part.
 *
 * @throws PlatformError `usage` for a URL that is refused or a file that is too large, `not_found` where it cannot be
 *   fetched, `timeout`, `storage` where it cannot be written, and what the signal was aborted with
 */
export async function download(url: string, part: Part, rules: DownloadRules): Promise<void> {
  const { signal, limitMs, isAllowed, allowHttp } = rules;
  const tooLate = AbortSignal.timeout(limitMs);
  const stalled = new AbortController();
  const stalling = setTimeout(() => stalled.abort(), STALLED_MS);
  const ended = AbortSignal.any([signal, tooLate, stalled.signal]);
  let opened: OpenedUrl | undefined;
  try {
    const urlRules = { ...RULES, isAllowed, signal: ended, httpRefusal: allowHttp ? undefined : NO_HTTP };
    opened = await openRest(url, part, urlRules);
    await readRest(opened, part, rules, () => void stalling.refresh());
  } catch (error) {
    if (signal.aborted) throw cancellationOf(signal);
    const shown = url.slice(0, 200);
    if (stalled.signal.aborted) {
      throw new PlatformError('timeout', `${shown} sends nothing for ${STALLED_MS / 1000} s; ${CONTINUES}`);
    }
    if (tooLate.aborted) {
      const minutes = (limitMs / 60_000).toPrecision(3);
      throw new PlatformError(
        'timeout',
        `${shown} takes more than ${minutes} min; ${CONTINUES}, --max-minutes N allows more`,
      );
    }
    if (error instanceof PlatformError) throw error;
    if (opened !== undefined && opened.response.errored !== null) {
      throw urlFailure(opened.url, `the connection broke (${messageOf(error)}); ${CONTINUES}`, error);
    }
    throw new PlatformError('storage', `the file of ${shown} cannot be written: ${messageOf(error)}`, { cause: error });
  } finally {
    clearTimeout(stalling);
    opened?.close();
  }
}
