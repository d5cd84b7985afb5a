import type { FileHandle } from 'node:fs/promises';
import { throwIfCancelled } from '../base/cancellation.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { openRegularFile } from '../base/regular-file.js';
import { chrome } from './chrome.js';
import { ModelCollector, type TracedModel } from './collect-models.js';
import { jaeger } from './jaeger.js';
import { layerTableCsv, layerTableLines } from './layer-table.js';
import { onnxruntime } from './onnxruntime.js';
import { otlp } from './otlp.js';
import { pythonSpans } from './python-spans.js';
import type { Emit, TraceReader } from './trace-record.js';

/** All formats, in the order in which they are tried: formats with the most distinctive beginning come first. */
const READERS = {
  otlp,
  jaeger,
  onnxruntime,
  python: pythonSpans,
  chrome,
  jsonl: layerTableLines,
  csv: layerTableCsv,
} as const satisfies Record<string, TraceReader>;

export type TraceFormat = keyof typeof READERS;

export const TRACE_FORMATS = Object.keys(READERS) as readonly TraceFormat[];

/** Bytes at the start of a file that decide its format. */
const HEAD_BYTES = 16 * 1024;

const CHUNK_BYTES = 256 * 1024;

export interface ReadTraceOptions {
  readonly format?: TraceFormat | undefined;
  readonly model?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

async function readHead(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '');
}

function readerFor(head: string, path: string): TraceReader {
  const reader = Object.values<TraceReader>(READERS).find((candidate) => candidate.detects(head));
  if (reader !== undefined) return reader;
  const formats = TRACE_FORMATS.join(', ');
  throw new PlatformError(
    'usage',
    `${path}: does not begin like any of the known formats (${formats}); name the right one with --format`,
  );
}

async function* counted(file: FileHandle, { signal, onProgress }: ReadTraceOptions): AsyncGenerator<Buffer> {
  let bytes = 0;
  const chunks = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES, autoClose: false });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    throwIfCancelled(signal);
    yield chunk;
    bytes += chunk.length;
    onProgress?.(bytes);
  }
}

/** Reads piece by piece. @throws PlatformError `usage` where it is no trace, with the place in it; `cancelled` */
export async function readTrace(path: string, options: ReadTraceOptions = {}): Promise<readonly TracedModel[]> {
  const { signal, model, format } = options;
  const collector = new ModelCollector(path, model);
  const emit: Emit = (record, place) => {
    throwIfCancelled(signal);
    collector.add(record, place);
  };
  const opened = await openRegularFile(path);
  if (!opened.ok) throw new PlatformError('usage', `${path}: cannot be read: found ${opened.found}`);
  const { file } = opened;
  try {
    const reader = format === undefined ? readerFor(await readHead(file), path) : READERS[format];
    await reader.read(counted(file, options), path, emit);
    return collector.finish(reader.onePerPosition === true);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('usage', `${path}: cannot be read: ${messageOf(error)}`, { cause: error });
  } finally {
    await file.close();
  }
}
