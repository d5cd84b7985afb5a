import { messageOf } from '../../../src/base/errors.js';
import {
  checkBody,
  queueClosedError,
  type FailedWork,
  type Handled,
  MAX_DELIVERIES,
  type Ongoing,
  type QueueState,
  type WorkHandler,
  type WorkMessage,
  type WorkQueue,
} from '../../../src/work/work-queue.js';

interface Waiting {
  readonly message: WorkMessage;
  /** Deliveries that failed. */
  readonly failures: number;
}

/** Takes work of one class, one message at a time. */
class Server {
  #ended: Promise<void> | undefined;
  #isClosed = false;

  constructor(private readonly handle: (waiting: Waiting) => Promise<void>) {}

  get isFree(): boolean {
    return this.#ended === undefined && !this.#isClosed;
  }

  start(waiting: Waiting, onEnd: () => void): void {
    this.#ended = this.handle(waiting).finally(() => {
      this.#ended = undefined;
      onEnd();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ended;
  }
}

/** The work of one class. */
class SystemQueue {
  readonly waiting: Waiting[] = [];
  readonly servers = new Set<Server>();

  /** Gives waiting work to the free servers, first come, first served. */
  deliver(): void {
    for (const server of this.servers) {
      if (!server.isFree) continue;
      const next = this.waiting.shift();
      if (next === undefined) return;
      // A server that gets work goes to the end, so that all servers get their share.
      this.servers.delete(server);
      this.servers.add(server);
      server.start(next, () => this.deliver());
    }
  }
}

/** Work that stays in this process, and ends with it. */
export class MemoryWorkQueue implements WorkQueue {
  readonly #systems = new Map<string, SystemQueue>();
  readonly #failed = new Map<string, FailedWork>();
  readonly #listeners = new Set<(failed: FailedWork) => void>();
  #isClosed = false;

  publish(system: string, message: WorkMessage): Promise<void> {
    return this.#whileOpen(() => {
      checkBody(message);
      this.#add(system, { message, failures: 0 });
    });
  }

  serve(system: string, handler: WorkHandler): Promise<Ongoing> {
    return this.#whileOpen(() => {
      const queue = this.#of(system);
      const server = new Server((waiting) => this.#handle(system, waiting, handler));
      queue.servers.add(server);
      queue.deliver();
      return {
        close: () => {
          queue.servers.delete(server);
          return server.close();
        },
      };
    });
  }

  state(system: string): Promise<QueueState> {
    return this.#whileOpen(() => {
      const queue = this.#of(system);
      return { waiting: queue.waiting.length, serving: queue.servers.size };
    });
  }

  watchFailed(listener: (failed: FailedWork) => void): Promise<Ongoing> {
    return this.#whileOpen(() => {
      this.#listeners.add(listener);
      return { close: () => Promise.resolve(void this.#listeners.delete(listener)) };
    });
  }

  async *failed(): AsyncIterable<FailedWork> {
    await this.#whileOpen(() => {});
    yield* [...this.#failed.values()];
  }

  replaceFailed(by: (failed: FailedWork) => readonly WorkMessage[] | undefined): Promise<number> {
    return this.#whileOpen(() => {
      let replaced = 0;
      for (const failed of [...this.#failed.values()]) {
        const messages = by(failed);
        if (messages === undefined) continue;
        messages.forEach(checkBody);
        this.#failed.delete(failed.message.id);
        for (const message of messages) this.#add(failed.system, { message, failures: 0 });
        replaced++;
      }
      return replaced;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const servers = [...this.#systems.values()].flatMap((queue) => [...queue.servers]);
    for (const queue of this.#systems.values()) {
      queue.waiting.length = 0;
      queue.servers.clear();
    }
    this.#listeners.clear();
    await Promise.all(servers.map((server) => server.close()));
  }

  /** Errors become rejections, as in other queues. */
  async #whileOpen<T>(work: () => T): Promise<T> {
    if (this.#isClosed) throw queueClosedError();
    return Promise.resolve(work());
  }

  #of(system: string): SystemQueue {
    const queue = this.#systems.get(system) ?? new SystemQueue();
    this.#systems.set(system, queue);
    return queue;
  }

  #add(system: string, waiting: Waiting): void {
    const queue = this.#of(system);
    queue.waiting.push(waiting);
    queue.deliver();
  }

  async #handle(system: string, { message, failures }: Waiting, handler: WorkHandler): Promise<void> {
    let handled: Handled;
    try {
      handled = await handler(message);
    } catch (thrown) {
      if (failures + 1 < MAX_DELIVERIES) {
        if (!this.#isClosed) this.#add(system, { message, failures: failures + 1 });
        return;
      }
      handled = { kind: 'refused', reason: messageOf(thrown) };
    }
    switch (handled.kind) {
      case 'done':
        return;
      case 'returned':
        if (!this.#isClosed) this.#add(system, { message, failures });
        return;
      case 'refused': {
        const failedAt = new Date().toISOString();
        const failed = { message, system, reason: handled.reason, failedAt };
        this.#failed.set(message.id, failed);
        for (const listener of this.#listeners) listener(failed);
      }
    }
  }
}
