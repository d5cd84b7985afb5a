import { TransformStream } from 'node:stream/web';
import type { Submission } from '../submission.js';
import { decodeSubmission } from '../wire/submission-wire.js';
import type { Link, PlatformEnd, PluginEnd, PlatformMessage, PluginMessage } from './link.js';

/** When this many messages wait for the other end, the sender waits. */
const CAPACITY = 16;

/** Ends when it is closed and all messages that were sent before are received. Later messages are left out. */
function openChannel<Message>() {
  const { readable, writable } = new TransformStream<Message, Message>({}, { highWaterMark: CAPACITY });
  const writer = writable.getWriter();
  const ignore = (): void => undefined;
  return {
    received: readable as AsyncIterable<Message>,
    async send(message: Message): Promise<void> {
      // Without waiting where there is room: the end may come right after a message.
      if ((writer.desiredSize ?? 0) <= 0) await writer.ready.catch(ignore);
      writer.write(message).catch(ignore);
    },
    close: (): void => void writer.close().catch(ignore),
  };
}

type Channel<Message> = ReturnType<typeof openChannel<Message>>;

function end<Sent, Passed, Received>(
  sent: Channel<Sent>,
  { received, close }: Channel<Passed>,
  read: (message: Passed) => Received,
): Link<Sent, Received> {
  return {
    send: (message) => sent.send(message),
    close() {
      sent.close();
      close();
    },
    async *[Symbol.asyncIterator]() {
      for await (const message of received) yield read(message);
    },
  };
}

function withSubmission(message: PlatformMessage<Uint8Array>): PlatformMessage<Submission> {
  return message.kind === 'run' ? { ...message, submission: decodeSubmission(message.submission) } : message;
}

export function memoryLink(): { readonly platform: PlatformEnd; readonly plugin: PluginEnd } {
  const toPlatform = openChannel<PluginMessage>();
  const toPlugin = openChannel<PlatformMessage<Uint8Array>>();
  return {
    platform: end(toPlugin, toPlatform, (message) => message),
    plugin: end(toPlatform, toPlugin, withSubmission),
  };
}
