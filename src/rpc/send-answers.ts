import { Metadata, ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder } from '@grpc/grpc-js';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { throwIfCancelled, untilDone } from '../base/cancellation.js';
import { PlatformError } from '../base/errors.js';
import type { Connections } from './connections.js';
import { LargeAnswer } from './large-answer.js';
import { FAREWELL_MS, type ServerLimits } from './limits.js';
import type { FairLoop } from './fair-loop.js';
import type { MessageFormat } from './message-format.js';
import { toStatus } from './status.js';

/** Sent in one turn of the event loop; the client has to take it before more. */
const PIECE_BYTES = 256 * 1024;

type Call = ConstructorParameters<typeof ServerInterceptingCall>[0];

/** The library offers no way to reset a stream whose client does not read, or keeps its side open after the end. */
function streamOf(call: Call): ServerHttp2Stream | undefined {
  return (call as { readonly stream?: ServerHttp2Stream }).stream;
}

class AnsweringCall extends ServerInterceptingCall {
  #unsentBytes = 0;
  #isReadWanted = false;
  #overdue: NodeJS.Timeout | undefined;
  readonly #ended = new AbortController();

  constructor(
    private readonly call: Call,
    private readonly format: MessageFormat,
    private readonly connection: ReturnType<Connections['answering']>,
    private readonly limits: Pick<ServerLimits, 'answerMs'>,
    private readonly loop: FairLoop,
  ) {
    const listener = new ServerListenerBuilder().withOnCancel(() => this.#end()).build();
    super(call, { start: (next) => next(listener) });
  }

  override sendMessage(message: unknown, callback: () => void): void {
    if (message instanceof LargeAnswer) {
      void this.#sendLarge(message).then(callback, (error: unknown) => {
        if (!this.#ended.signal.aborted) this.sendStatus(toStatus(error));
      });
      return;
    }
    let bytes: Buffer;
    try {
      bytes = this.format.encode(message);
      if (!this.connection.take(bytes.length)) {
        throw new PlatformError('exhausted', 'the server has no room for more answers; read them, or try again later');
      }
    } catch (error) {
      this.sendStatus(toStatus(error));
      return;
    }
    this.#unsentBytes += bytes.length;
    this.#overdue ??= setTimeout(() => this.#giveUp(), this.limits.answerMs).unref();
    super.sendMessage(bytes, () => {
      this.#sent(bytes.length);
      callback();
    });
  }

  override startRead(): void {
    if (this.format.isPaced && this.#unsentBytes > 0) this.#isReadWanted = true;
    else super.startRead();
  }

  /** The library would copy the whole answer, and write it at once. */
  async #sendLarge(answer: LargeAnswer): Promise<void> {
    const { signal } = this.#ended;
    const leave = await this.connection.large.take({ signal });
    try {
      await this.loop.take(this.getPeer());
      const { head, body, close } = await answer.open(signal);
      try {
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(head.length + body.length, 1);
        let leftMs = await this.#sendPiece(Buffer.concat([prefix, head]), this.limits.answerMs);
        for (let start = 0; start < body.length; start += PIECE_BYTES) {
          leftMs = await this.#sendPiece(body.subarray(start, start + PIECE_BYTES), leftMs);
        }
      } finally {
        close();
      }
    } finally {
      leave();
    }
  }

  /** Resolves when the client has taken the piece, with what is left of its time; time until its turn is no delay. */
  async #sendPiece(piece: Uint8Array, leftMs: number): Promise<number> {
    const { signal } = this.#ended;
    await this.loop.take(this.getPeer());
    throwIfCancelled(signal);
    this.call.sendMetadata(new Metadata());
    const stream = streamOf(this.call);
    const startMs = performance.now();
    const overdue = setTimeout(() => this.#giveUp(), leftMs).unref();
    await untilDone(signal, (done) => stream?.write(piece, done));
    clearTimeout(overdue);
    throwIfCancelled(signal);
    return leftMs - (performance.now() - startMs);
  }

  #sent(bytes: number): void {
    // If the call has ended meanwhile, #end has already released all its memory.
    if (this.#unsentBytes === 0) return;
    this.#unsentBytes -= bytes;
    this.connection.giveBack(bytes);
    this.#overdue?.refresh();
    if (this.#unsentBytes > 0) return;
    clearTimeout(this.#overdue);
    this.#overdue = undefined;
    if (!this.#isReadWanted) return;
    this.#isReadWanted = false;
    super.startRead();
  }

  #giveUp(): void {
    streamOf(this.call)?.close(constants.NGHTTP2_CANCEL);
  }

  #end(): void {
    this.#ended.abort();
    clearTimeout(this.#overdue);
    this.connection.giveBack(this.#unsentBytes);
    this.#unsentBytes = 0;
    const stream = streamOf(this.call);
    setTimeout(() => stream?.close(constants.NGHTTP2_NO_ERROR), FAREWELL_MS).unref();
  }
}

/**
 * An answer past the memory limits is refused. The stream of an answer that the client does not take is reset. No
 * stream outlives its call.
 *
 * @param formats by path
 */
export function sendAnswers(
  formats: ReadonlyMap<string, MessageFormat>,
  connections: Connections,
  limits: ServerLimits,
  loop: FairLoop,
): ServerInterceptor {
  return ({ path }, call) => {
    const stream = streamOf(call);
    if (stream !== undefined) connections.opened(call.getPeer(), stream);
    const format = formats.get(path);
    if (format === undefined) return new ServerInterceptingCall(call);
    return new AnsweringCall(call, format, connections.answering(call.getPeer()), limits, loop);
  };
}
