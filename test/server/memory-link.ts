import type {
  Link,
  PlatformEnd,
  PlatformMessage,
  PlatformMessageInBytes,
  PluginEnd,
  PluginMessage,
} from '../../src/evaluation/link/link.js';
import { Submission } from '../../src/generated/mlmodelscope/evaluation/v1/submission.js';

/** When this many messages wait for the other end, the sender waits. */
const CAPACITY = 16;

class Channel<T> implements AsyncIterable<T> {
  readonly #messages: T[] = [];
  readonly #wakers = new Set<() => void>();
  #closed = false;

  async send(message: T): Promise<void> {
    while (this.#messages.length >= CAPACITY && !this.#closed) await this.#change();
    if (this.#closed) return;
    this.#messages.push(message);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Ends when the channel is closed and all messages that were sent before are received. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        this.#wake();
        yield message;
      } else if (this.#closed) return;
      else await this.#change();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakers.add(resolve));
  }

  #wake(): void {
    const wakers = [...this.#wakers];
    this.#wakers.clear();
    for (const wake of wakers) wake();
  }
}

function end<Sent, Passed, Received>(
  sent: Channel<Sent>,
  received: Channel<Passed>,
  read: (message: Passed) => Received,
): Link<Sent, Received> {
  return {
    send: (message) => sent.send(message),
    close() {
      sent.close();
      received.close();
    },
    async *[Symbol.asyncIterator]() {
      for await (const message of received) yield read(message);
    },
  };
}

function decoded(message: PlatformMessageInBytes): PlatformMessage {
  if (message.$case !== 'run') return message;
  return { ...message, value: { ...message.value, submission: Submission.decode(message.value.submission) } };
}

export function memoryLink(): { readonly platform: PlatformEnd; readonly plugin: PluginEnd } {
  const toPlatform = new Channel<PluginMessage>();
  const toPlugin = new Channel<PlatformMessageInBytes>();
  return {
    platform: end(toPlugin, toPlatform, (message) => message),
    plugin: end(toPlatform, toPlugin, decoded),
  };
}
