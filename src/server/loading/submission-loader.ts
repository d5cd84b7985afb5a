import { Worker } from 'node:worker_threads';
import { codeOf, messageOf, PlatformError } from '../../base/errors.js';
import { FairSemaphore, type TakeOptions } from '../../base/fair-semaphore.js';
import type { Described, FromThread, ToThread, Wanted } from './messages.js';

export interface LoadLimits {
  readonly atOnce: number;
  readonly timeMs: number;
  readonly memoryMib: number;
}

/** Larger buffers are transferred: copying one would make other calls wait. A message this large has its own buffer. */
const LARGE_BYTES = 2 ** 20;

/** The largest legitimate submissions take some seconds and a few hundred MiB. */
const LIMITS: LoadLimits = { atOnce: 2, timeMs: 60_000, memoryMib: 1024 };

/** Decides by the manifests whether the graphs are needed. An error that it throws ends the loading. */
export type Decide = (described: Described) => Wanted;

export interface Loaded {
  readonly described: Described;
  /** In wire format with its models' graphs, without weights; undefined if they were not wanted. */
  readonly submission: Uint8Array | undefined;
}

/** Threads with limits of memory and time. An idle one waits for the next submission; one beyond it is replaced. */
export class SubmissionLoader {
  readonly #limits: LoadLimits;
  readonly #semaphore: FairSemaphore;
  readonly #idle: Worker[] = [];

  constructor(limits: Partial<LoadLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#semaphore = new FairSemaphore(this.#limits.atOnce);
  }

  /**
   * @param bytes in wire format; the buffer of a large one is transferred to the thread, and empty afterwards
   * @throws PlatformError its problem, `model` for too much time or memory, errors of `decide`, the signal's reason
   */
  load(bytes: Uint8Array, decide: Decide, waiting?: TakeOptions): Promise<Loaded> {
    return this.#semaphore.run(() => this.#loadIn(this.#idle.pop() ?? this.#start(), bytes, decide), waiting);
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.memoryMib };
    return new Worker(new URL('./load-thread.js', import.meta.url), { resourceLimits });
  }

  #loadIn(thread: Worker, bytes: Uint8Array, decide: Decide): Promise<Loaded> {
    return new Promise((resolve, reject) => {
      let refusal: Error | undefined;
      let described: Described | undefined;
      const fail = (error: unknown): void => {
        settle();
        void thread.terminate();
        reject(error instanceof Error ? error : new PlatformError('internal', messageOf(error)));
      };
      const overdue = setTimeout(() => fail(tooMuch(`${this.#limits.timeMs / 1000} s`)), this.#limits.timeMs);
      const onError = (error: unknown): void => {
        const isMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
        fail(isMemory ? tooMuch(`${this.#limits.memoryMib} MiB of memory`) : error);
      };
      const onExit = (): void => fail(new PlatformError('internal', 'reading the submission ended without an answer'));
      const onMessage = (message: FromThread): void => {
        if (message.kind === 'described') {
          let wanted: Wanted = false;
          described = message.described;
          try {
            wanted = decide(described);
          } catch (thrown) {
            refusal = thrown instanceof Error ? thrown : new PlatformError('internal', messageOf(thrown));
          }
          post(thread, { kind: 'graphs', wanted });
          return;
        }
        settle();
        this.#idle.push(thread);
        thread.unref();
        if (refusal !== undefined) reject(refusal);
        else if (message.kind === 'failed') reject(new PlatformError(message.code, message.message));
        else if (described === undefined) reject(new PlatformError('internal', 'the submission has no manifest'));
        else resolve({ described, submission: message.bytes });
      };
      const settle = (): void => {
        clearTimeout(overdue);
        // A thread may still run out of memory while it is ended.
        thread.off('error', onError).off('exit', onExit).off('message', onMessage).on('error', ignore);
      };
      thread.off('error', ignore).on('error', onError).on('exit', onExit).on('message', onMessage);
      thread.ref();
      post(thread, { kind: 'load', bytes }, bytes.length < LARGE_BYTES ? [] : [bytes.buffer as ArrayBuffer]);
    });
  }
}

function ignore(): void {}

/** @param given memory that the thread gets instead of a copy */
function post(thread: Worker, message: ToThread, given: readonly ArrayBuffer[] = []): void {
  thread.postMessage(message, given);
}

function tooMuch(limit: string): PlatformError {
  return new PlatformError(
    'model',
    `reading the models takes more than ${limit}; submit fewer or smaller ones at a time`,
  );
}
