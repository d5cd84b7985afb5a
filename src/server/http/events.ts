import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { isFinal, type LoggedEvent } from '../../evaluation/event.js';
import { evaluationHasEnded } from '../../evaluation/records.js';
import { eventText, progressText } from '../../web/site/evaluation-pages.js';
import { Followers } from '../followers.js';
import { recordAfter } from '../job.js';
import type { Platform } from '../platform.js';

/** A comment this often, so that a client that is gone is noticed. */
const ALIVE_MS = 15_000;

function formatMessage({ event, at }: LoggedEvent): object {
  const common = { event, at, final: isFinal(event) };
  if (event.kind === 'measuring') {
    const share = event.total === 0 ? 0 : event.done / event.total;
    return { ...common, progress: { text: progressText(event), share } };
  }
  const state = event.kind === 'waiting' ? 'queued' : event.kind === 'started' ? 'running' : undefined;
  return { ...common, text: eventText(event), state };
}

/** Streams events of evaluations. The server keeps nothing for a client: each reads the same log, from its own place. */
export class EventStreams {
  readonly #followers = new Followers();
  #open = 0;

  get open(): number {
    return this.#open;
  }

  constructor(
    private readonly platform: Platform,
    private readonly closing: AbortSignal,
  ) {}

  /** @param after number of the last event that the client has @throws PlatformError `not_found`; `exhausted` */
  async answer(c: Context, id: string, after: number, client: string): Promise<Response> {
    const { record, last } = await this.platform.get(id);
    // Without an event to come, a browser would connect again and again.
    if (evaluationHasEnded(recordAfter(record, last)) && after >= (last?.sequence ?? 0)) {
      return c.body(null, 204);
    }
    const leave = this.#followers.add(client);
    this.#open++;
    c.header('X-Accel-Buffering', 'no');
    const follow = async (stream: SSEStreamingApi): Promise<void> => {
      const gone = new AbortController();
      stream.onAbort(() => gone.abort());
      const signal = AbortSignal.any([gone.signal, this.closing]);
      const alive = setInterval(() => void stream.write(': alive\n\n'), ALIVE_MS).unref();
      try {
        await stream.write('retry: 3000\n\n');
        for await (const logged of this.platform.follow(id, after, signal)) {
          if (signal.aborted) break;
          // Progress has no number: it is not stored, and a client that was away needs the latest only.
          const number = logged.event.kind === 'measuring' ? '' : `id: ${logged.sequence}\n`;
          await stream.write(`${number}event: evaluation\ndata: ${JSON.stringify(formatMessage(logged))}\n\n`);
        }
      } finally {
        clearInterval(alive);
        leave();
        this.#open--;
      }
    };
    // A stream that fails ends, and its client connects again.
    return streamSSE(c, follow, () => Promise.resolve());
  }
}
