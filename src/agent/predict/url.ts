import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { openUrl, type OpenedUrl, urlFailure, type UrlRules } from '../../http/open-url.js';

/** Time limit of one URL, its redirects included. */
const FETCH_LIMIT_MS = 30_000;

export interface FetchOptions {
  readonly maxBytes: number;
  readonly isAllowed: (address: string) => boolean;
  readonly signal: AbortSignal;
}

const RULES = {
  refusal: 'points at this machine or inside of a network, which this agent does not fetch from',
  headers: { accept: 'image/*', 'user-agent': 'mlmodelscope-agent' },
} as const satisfies Partial<UrlRules>;

function readAnswer({ url, response }: OpenedUrl, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) return Promise.reject(urlFailure(url, `it answers with status ${statusCode}`));
  const tooLarge = urlFailure(url, `it is larger than ${maxBytes} bytes`);
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
      // An answer without a stated length ends with its connection. The signal ends the connection as well.
      if (signal.aborted) reject(urlFailure(url, 'its answer did not end in time'));
      else resolve(Buffer.concat(pieces));
    });
    response.on('error', (error) => reject(urlFailure(url, messageOf(error), error)));
    response.on('aborted', () => reject(urlFailure(url, 'the connection broke')));
  });
}

/**
 * @throws PlatformError `usage` for a URL that {@link openUrl} refuses, `not_found` where there is nothing of at most
 *   that size, `timeout` after 30 s, and what the signal was aborted with
 */
export async function fetchUrl(text: string, { maxBytes, isAllowed, signal }: FetchOptions): Promise<Buffer> {
  const tooLate = AbortSignal.timeout(FETCH_LIMIT_MS);
  const ended = AbortSignal.any([signal, tooLate]);
  throwIfCancelled(signal);
  let opened: OpenedUrl | undefined;
  try {
    opened = await openUrl(text, { ...RULES, isAllowed, signal: ended });
    return await readAnswer(opened, maxBytes, ended);
  } catch (error) {
    if (signal.aborted) throw cancellationOf(signal);
    if (!tooLate.aborted) throw error;
    throw new PlatformError('timeout', `${text.slice(0, 200)} did not answer within ${FETCH_LIMIT_MS / 1000} s`);
  } finally {
    opened?.close();
  }
}
