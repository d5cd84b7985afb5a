import type { FileHandle } from 'node:fs/promises';
import { cancellationOf } from './cancellation.js';

/** A piece of bytes needs to be valid only until the next one is requested. */
export type FileContent = string | Uint8Array | Iterable<Uint8Array> | AsyncIterable<string>;

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Texts are collected up to this size before they are written. */
const MIN_CHARACTERS = 1 << 16;

async function* streamBytes(content: FileContent): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') yield Buffer.from(content);
  else if (content instanceof Uint8Array) yield content;
  else if (Symbol.iterator in content) yield* content;
  else {
    let text = '';
    for await (const piece of content) {
      text += piece;
      if (text.length < MIN_CHARACTERS) continue;
      yield Buffer.from(text);
      text = '';
    }
    yield Buffer.from(text);
  }
}

/** @throws the operating system's error, what the content throws, and the cancellation when the signal aborts */
export async function writeContent(
  handle: FileHandle,
  content: FileContent,
  { signal, onProgress }: WriteOptions = {},
): Promise<void> {
  let bytes = 0;
  for await (const piece of streamBytes(content)) {
    if (signal?.aborted === true) throw cancellationOf(signal);
    for (let done = 0; done < piece.length;) {
      done += (await handle.write(piece, done, piece.length - done)).bytesWritten;
    }
    bytes += piece.length;
    onProgress?.(bytes);
  }
}
