import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PlatformError } from '../../base/errors.js';
import { FairSemaphore } from '../../base/fair-semaphore.js';
import type { Shown, ThreadData, ToShow } from './result-thread.js';

/** A report of 100 models with 10,000 bricks takes some seconds on a busy machine. */
const TIME_LIMIT_MS = 60_000;

const MEMORY_MIB = 1024;

/** Results that wait to be shown; further visitors are told to try again. */
const MAX_WAITING = 32;

/** In a thread with this command's plugins, so that a large result or a hanging plugin makes no other visitor wait. */
export class ResultPages {
  readonly #semaphore = new FairSemaphore(1);
  #thread: Worker | undefined;

  constructor(
    private readonly data: ThreadData,
    private readonly timeLimitMs = TIME_LIMIT_MS,
  ) {}

  /** Undefined where no plugin here understands it. @throws PlatformError `exhausted`, `timeout`, `internal` */
  async show(plugin: string, result: Buffer): Promise<string | undefined> {
    if (this.#semaphore.waiting >= MAX_WAITING) {
      throw new PlatformError('exhausted', 'many results are being shown; try again in a moment');
    }
    return this.#semaphore.run(() => this.#show({ plugin, result }));
  }

  close(): void {
    void this.#thread?.terminate();
  }

  async #show(toShow: ToShow): Promise<string | undefined> {
    const isNew = this.#thread === undefined;
    const thread = (this.#thread ??= this.#start());
    const overdue = new AbortController();
    let timer = setTimeout(() => overdue.abort(), isNew ? TIME_LIMIT_MS : this.timeLimitMs);
    thread.ref();
    try {
      if (isNew) {
        // Its first message says that it has its plugins: loading them is no part of showing.
        await once(thread, 'message', { signal: overdue.signal });
        clearTimeout(timer);
        timer = setTimeout(() => overdue.abort(), this.timeLimitMs);
      }
      thread.postMessage(toShow);
      const [answer] = (await once(thread, 'message', { signal: overdue.signal })) as [Shown];
      thread.unref();
      if ('problem' in answer) throw new PlatformError('internal', `the result cannot be shown: ${answer.problem}`);
      return answer.markup;
    } catch (error) {
      if (error instanceof PlatformError) throw error;
      this.#thread = undefined;
      void thread.terminate();
      const isLate = overdue.signal.aborted;
      const problem = isLate
        ? `takes more than ${this.timeLimitMs / 1000} s`
        : 'takes too much memory, or its plugin ended';
      throw new PlatformError(isLate ? 'timeout' : 'internal', `showing the result ${problem}; export it instead`);
    } finally {
      clearTimeout(timer);
    }
  }

  #start(): Worker {
    const url = new URL('./result-thread.js', import.meta.url);
    const thread = new Worker(url, { workerData: this.data, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB } });
    // Errors while nothing is shown are found at the next result.
    return thread.on('error', () => {});
  }
}
