import type {
  handleServerStreamingCall,
  handleUnaryCall,
  sendUnaryData,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
} from '@grpc/grpc-js';
import { throwIfCancelled, untilDone } from '../base/cancellation.js';
import { PlatformError } from '../base/errors.js';
import { FairLoop } from './fair-loop.js';
import { toStatus } from './status.js';

interface CancellableCall {
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): unknown;
  off(event: 'cancelled', listener: () => void): unknown;
}

/** Waits for a turn of the event loop, before work of some milliseconds or more. */
export type WaitForLoop = () => Promise<void>;

export class ActiveCalls {
  readonly #controllers = new Set<AbortController>();

  constructor(private readonly loop = new FairLoop()) {}

  async answer<Request, Response>(
    call: ServerUnaryCall<Request, Response>,
    callback: sendUnaryData<Response>,
    work: (signal: AbortSignal, waitForLoop: WaitForLoop) => Response | Promise<Response>,
  ): Promise<void> {
    const waitForLoop: WaitForLoop = () => this.loop.take(call.getPeer());
    try {
      const answer = await this.#track(call, async (signal) => {
        await waitForLoop();
        throwIfCancelled(signal);
        return work(signal, waitForLoop);
      });
      await waitForLoop();
      callback(null, answer);
    } catch (error) {
      callback(toStatus(error));
    }
  }

  async stream<Request, Response>(
    call: ServerWritableStream<Request, Response> | ServerDuplexStream<Request, Response>,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    try {
      await this.#track(call, work);
      call.end();
    } catch (error) {
      call.emit('error', toStatus(error));
    }
  }

  unary<Request, Response>(
    work: (
      call: ServerUnaryCall<Request, Response>,
      signal: AbortSignal,
      waitForLoop: WaitForLoop,
    ) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call, callback) => void this.answer(call, callback, (...context) => work(call, ...context));
  }

  streaming<Request, Response>(
    work: (call: ServerWritableStream<Request, Response>, signal: AbortSignal) => Promise<void>,
  ): handleServerStreamingCall<Request, Response> {
    return (call) => void this.stream(call, (signal) => work(call, signal));
  }

  /** Resolves when the client has taken the message. @throws PlatformError the reason of the signal */
  async send<Response>(
    call: ServerWritableStream<unknown, Response>,
    message: Response,
    signal: AbortSignal,
  ): Promise<void> {
    await this.loop.take(call.getPeer());
    throwIfCancelled(signal);
    await untilDone(signal, (done) => call.write(message, done));
    throwIfCancelled(signal);
  }

  /** Leaves the message out while the client does not read: it causes no error, and its messages would accumulate. */
  tell<Response>(
    call: Pick<ServerWritableStream<unknown, Response>, 'write' | 'writableNeedDrain'>,
    message: Response,
    signal: AbortSignal,
  ): void {
    if (!signal.aborted && !call.writableNeedDrain) call.write(message);
  }

  abort(reason: PlatformError): void {
    for (const controller of this.#controllers) controller.abort(reason);
  }

  async #track<T>(call: CancellableCall, work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const controller = new AbortController();
    const cancel = (): void => controller.abort(new PlatformError('cancelled', 'the client cancelled the call'));
    call.once('cancelled', cancel);
    if (call.cancelled) cancel();
    this.#controllers.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      this.#controllers.delete(controller);
      call.off('cancelled', cancel);
    }
  }
}
