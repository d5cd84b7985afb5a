import type { Link } from './link.js';

interface MessageStream {
  readonly writable: boolean;
  write(message: unknown): boolean;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterator<unknown>;
}

/**
 * A link over a gRPC stream, on either side. It reads a message only when the reader asks for one, so that a fast
 * sender waits.
 */
export function streamLink<Sent, Received>(stream: MessageStream, end: () => void): Link<Sent, Received> {
  let close = (): void => {};
  const closed = new Promise<undefined>((resolve) => (close = () => resolve(undefined)));
  // An error without a listener would end the process.
  stream.on('error', close);
  stream.on('cancelled', close);
  stream.on('close', close);

  return {
    async send(message) {
      if (!stream.writable || stream.write({ message })) return;
      let drained = (): void => {};
      const drain = new Promise<void>((resolve) => (drained = resolve));
      stream.on('drain', drained);
      await Promise.race([drain, closed]);
      stream.off('drain', drained);
    },

    close() {
      close();
      end();
    },

    async *[Symbol.asyncIterator]() {
      // A destroyed stream sends no status: the other side may have ended its half only.
      const messages = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<{
        readonly message: Received | undefined;
      }>;
      for (;;) {
        const asked = messages.next();
        // When the link is closed first, the end of the stream no longer matters.
        asked.catch(() => undefined);
        const next = await Promise.race([asked, closed]);
        if (next === undefined || next.done === true) return;
        const { message } = next.value;
        // Only a newer version knows some kinds of messages.
        if (message !== undefined) yield message;
      }
    },
  };
}
