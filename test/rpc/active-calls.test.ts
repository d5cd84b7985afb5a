import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { ActiveCalls } from '../../src/rpc/active-calls.js';
import { until } from '../support/until.js';

/** The parts of a call that are used here. */
class Call extends EventEmitter {
  cancelled = false;
  ended = false;
  writableNeedDrain = false;
  readonly written: unknown[] = [];
  constructor(private readonly peer = 'client') {
    super();
  }
  /** The client takes a message. */
  take: (() => void) | undefined;
  getPeer(): string {
    return this.peer;
  }
  write(message: unknown, done?: () => void): void {
    this.written.push(message);
    this.take = done;
  }
  end(): void {
    this.ended = true;
  }
}

function answer<T>(calls: ActiveCalls, call: Call, work: (signal: AbortSignal) => T | Promise<T>) {
  return new Promise<{ error: { details?: string | undefined } | null; response?: T | null | undefined }>((resolve) => {
    void calls.answer(
      call as unknown as ServerUnaryCall<unknown, T>,
      (error, response) => resolve({ error: error, response }),
      work,
    );
  });
}

/** Fails with the reason of the signal once that is aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}

const SHUTDOWN = new PlatformError('unavailable', 'the server is shutting down');

describe('calls that are being answered', () => {
  test('have the result of the work, or the status of its error', async () => {
    const calls = new ActiveCalls();
    assert.deepEqual(await answer(calls, new Call(), () => 7), { error: null, response: 7 });
    const { error } = await answer(calls, new Call(), () => Promise.reject(SHUTDOWN));
    assert.equal(error?.details, SHUTDOWN.message);
  });

  test('abort their work when the client cancels', async () => {
    const call = new Call();
    const ended = answer(new ActiveCalls(), call, (signal) => {
      call.emit('cancelled');
      return untilAborted(signal);
    });
    assert.equal((await ended).error?.details, 'the client cancelled the call');
  });

  test('begin no work if the client has already cancelled', async () => {
    const call = new Call();
    call.cancelled = true;
    const { error } = await answer(new ActiveCalls(), call, () => assert.fail());
    assert.equal(error?.details, 'the client cancelled the call');
  });

  test('are aborted all together, except those that have ended', async () => {
    const calls = new ActiveCalls();
    let earlier: AbortSignal | undefined;
    await answer(calls, new Call(), (signal) => (earlier = signal));
    const both = [1, 2].map(() => answer(calls, new Call(), untilAborted));
    calls.abort(SHUTDOWN);
    for (const { error } of await Promise.all(both)) assert.equal(error?.details, SHUTDOWN.message);
    assert.equal(earlier?.aborted, false);
  });

  test('leave out messages that a client can do without, while it does not read', () => {
    const calls = new ActiveCalls();
    const call = new Call();
    const { signal } = new AbortController();
    const tell = (message: string, until: AbortSignal): void => {
      calls.tell(call as unknown as ServerWritableStream<unknown, string>, message, until);
    };
    tell('first', signal);
    call.writableNeedDrain = true;
    tell('second', signal);
    call.writableNeedDrain = false;
    tell('third', signal);
    tell('fourth', AbortSignal.abort());
    assert.deepEqual(call.written, ['first', 'third']);
  });

  describe('send a message', () => {
    const send = (call: Call, signal: AbortSignal) =>
      new ActiveCalls().send(call as unknown as ServerWritableStream<unknown, string>, 'message', signal);

    test('and go on when the client has taken it', async () => {
      const call = new Call();
      let isSent = false;
      const sent = send(call, new AbortController().signal).then(() => (isSent = true));
      await until(() => call.take !== undefined);
      assert.deepEqual([call.written, isSent], [['message'], false]);
      call.take?.();
      await sent;
    });

    test('without a delay by the messages of another client', async () => {
      const calls = new ActiveCalls();
      const { signal } = new AbortController();
      const sent: string[] = [];
      const sendTo = (client: string): Promise<void> => {
        const call = new Call(client);
        const write = (_message: unknown, done: () => void): void => {
          sent.push(client);
          // Each message takes some time.
          for (const startMs = performance.now(); performance.now() < startMs + 1;);
          done();
        };
        return calls.send(
          Object.assign(call, { write }) as unknown as ServerWritableStream<unknown, string>,
          '',
          signal,
        );
      };
      await Promise.all(['much', 'much', 'much', 'little'].map(sendTo));
      assert.equal(sent.indexOf('little'), 1);
    });

    test('never after they were aborted', async () => {
      const call = new Call();
      await assert.rejects(send(call, AbortSignal.abort(SHUTDOWN)), SHUTDOWN);
      assert.deepEqual(call.written, []);
    });

    test('and fail with the reason if they are aborted before the client has taken it', async () => {
      const call = new Call();
      const controller = new AbortController();
      const sent = send(call, controller.signal);
      await until(() => call.take !== undefined);
      controller.abort(SHUTDOWN);
      await assert.rejects(sent, SHUTDOWN);
    });
  });

  test('leave no listeners behind', async () => {
    const call = new Call();
    await answer(new ActiveCalls(), call, () => 7);
    assert.deepEqual(call.eventNames(), []);
  });

  test('of streams end with the work, or with an error that has its status', async () => {
    const calls = new ActiveCalls();
    const done = new Call();
    await calls.stream(done as unknown as ServerWritableStream<unknown, unknown>, () => Promise.resolve());
    assert.ok(done.ended);
    const failing = new Call();
    let details: unknown;
    failing.once('error', (error: { details: string }) => (details = error.details));
    await calls.stream(failing as unknown as ServerWritableStream<unknown, unknown>, () => Promise.reject(SHUTDOWN));
    assert.deepEqual([failing.ended, details], [false, SHUTDOWN.message]);
  });
});
