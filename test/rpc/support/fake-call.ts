import { Metadata, type ServerInterceptingCall, type ServerInterceptor, type status } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';

type Call = Parameters<ServerInterceptor>[1];

type Listener = Parameters<Call['start']>[0];

export interface SentStatus {
  readonly code?: status | undefined;
  readonly details?: string | undefined;
}

/** The HTTP/2 stream of a call. `written` pieces are taken by calling what they come with. */
export class FakeStream extends EventEmitter {
  readonly written: { readonly piece: Uint8Array; readonly taken: () => void }[] = [];
  readonly closedWith: unknown[] = [];

  write(piece: Uint8Array, taken: () => void): boolean {
    this.written.push({ piece, taken });
    return true;
  }

  close(code: unknown): void {
    this.closedWith.push(code);
  }
}

/** The library's side of a call: what an interceptor lets through is kept. */
export class FakeCall {
  readonly stream = new FakeStream();
  readonly sent: { readonly message: unknown; readonly taken: () => void }[] = [];
  readonly statuses: SentStatus[] = [];
  reads = 0;
  #listener: Listener | undefined;

  constructor(private readonly peer = 'client') {}

  start(listener: Listener): void {
    this.#listener = listener;
  }

  sendMetadata(): void {}

  sendMessage(message: unknown, taken: () => void): void {
    this.sent.push({ message, taken });
  }

  sendStatus(sent: SentStatus): void {
    this.statuses.push(sent);
  }

  startRead(): void {
    this.reads++;
  }

  getPeer(): string {
    return this.peer;
  }

  /** What the client does. */
  get client(): Listener {
    if (this.#listener === undefined) throw new Error('the call has not begun');
    return this.#listener;
  }
}

export interface Intercepted {
  readonly call: FakeCall;
  readonly outer: ServerInterceptingCall;
  /** What reached the method. */
  readonly requests: unknown[];
  readonly ends: ('request' | 'call')[];
}

/** Begins a call of a method behind an interceptor. */
export function intercept(
  interceptor: ServerInterceptor,
  { path, requestStream = false, peer }: { readonly path: string; requestStream?: boolean; peer?: string },
): Intercepted {
  const call = new FakeCall(peer);
  const method = { path, requestStream } as Parameters<ServerInterceptor>[0];
  const outer = interceptor(method, call as unknown as Call);
  const requests: unknown[] = [];
  const ends: ('request' | 'call')[] = [];
  outer.start({
    onReceiveMetadata: () => undefined,
    onReceiveMessage: (request: unknown) => void requests.push(request),
    onReceiveHalfClose: () => void ends.push('request'),
    onCancel: () => void ends.push('call'),
  });
  call.client.onReceiveMetadata(new Metadata());
  return { call, outer, requests, ends };
}
