import { messageOf } from '../base/errors.js';
import { MAX_DEPTH } from '../base/bounded-json.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';

/** Most bytes of a wanted value. */
const MAX_VALUE_BYTES = 16 * 2 ** 20;

/** Most bytes of a key on the path to a wanted value. */
const MAX_KEY_BYTES = 2 ** 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Path to the wanted values: keys of objects, and `[]` for every element of an array. */
export type JsonPath = readonly string[];

export const ELEMENTS = '[]';

/** @param offset of the value's first byte @param owner offset of the outermost array element that contains it */
export type OnValue = (path: number, value: unknown, offset: number, owner: number) => void;

interface Container {
  readonly isArray: boolean;
  readonly paths: readonly number[];
  readonly owner: number | undefined;
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endsLiteral(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || isBlank(byte);
}

/**
 * Picks values out of one or several JSON texts of any size, and holds one value at a time. Chunks are pushed, so that
 * an event of a trace does not cost a promise.
 */
export class JsonPicker {
  private buffer: Buffer = Buffer.alloc(0);
  /** What the buffer is the beginning of, where it is not a chunk. */
  private room: Buffer | undefined;
  /** Offset of the next byte in the buffer; beyond its end where an escaped character is in the next chunk. */
  private at = 0;
  /** Position of the buffer's first byte in the file. */
  private base = 0;
  private readonly stack: Container[] = [];
  private expected: Expected = 'value';
  private key = '';
  private texts = 0;
  /** The value that is being skipped or collected; `path` is undefined for a skipped one. */
  private value: { path: number | undefined; start: number; depth: number; inString: boolean } | undefined;

  /** @param options.mayBeCut whether an array at the top may lack its end, as traces of crashed processes do */
  constructor(
    private readonly source: string,
    private readonly paths: readonly JsonPath[],
    private readonly onValue: OnValue,
    private readonly options: { readonly mayBeCut?: boolean } = {},
  ) {}

  async read(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) this.write(chunk);
    this.end();
  }

  write(chunk: Buffer): void {
    const held = this.value?.path === undefined ? Math.min(this.at, this.buffer.length) : this.value.start;
    this.append(chunk, held);
    this.at -= held;
    this.base += held;
    if (this.value !== undefined) this.value.start -= held;
    if (this.base === 0 && this.at === 0 && this.buffer.subarray(0, 3).equals(BYTE_ORDER_MARK)) this.at = 3;
    this.advance();
  }

  /** @param held offset of the first byte in the buffer that is still needed */
  private append(chunk: Buffer, held: number): void {
    const rest = this.buffer.subarray(held);
    const length = rest.length + chunk.length;
    if (rest.length === 0) {
      this.buffer = chunk;
      this.room = undefined;
      return;
    }
    if (this.room === undefined || held > 0 || length > this.room.length) {
      // A value of many chunks is copied a few times only, because its room is doubled.
      this.room = Buffer.allocUnsafe(held === 0 ? 2 * length : length);
      rest.copy(this.room);
    }
    chunk.copy(this.room, rest.length);
    this.buffer = this.room.subarray(0, length);
  }

  end(): void {
    if (this.value?.path !== undefined && this.value.depth === 0 && !this.value.inString && this.stack.length === 0) {
      this.finishValue(this.buffer.length);
    }
    const isOpenArray = this.stack.length === 1 && this.stack[0]?.isArray === true && this.value === undefined;
    if (isOpenArray && this.options.mayBeCut === true) return;
    if (this.value !== undefined || this.stack.length > 0) {
      throw this.error(this.buffer.length, 'the file ends in the middle; write it again');
    }
    if (this.texts === 0) throw this.error(0, 'the file is empty');
  }

  private error(at: number, problem: string, cause?: unknown): Error {
    return traceError(this.source, `byte ${this.base + at}`, problem, cause);
  }

  private advance(): void {
    while (this.at < this.buffer.length) {
      if (this.value !== undefined) {
        if (!this.advanceValue(this.value)) return;
        continue;
      }
      const byte = this.buffer[this.at];
      if (isBlank(byte)) this.at++;
      else if (!this.advanceStructure(byte)) return;
    }
  }

  /** One token outside of wanted values. @returns false where more of the text is needed */
  private advanceStructure(byte: number | undefined): boolean {
    const { expected } = this;
    const top = this.stack.at(-1);
    const isEnd = byte === (top?.isArray === true ? CLOSE_ARRAY : CLOSE_OBJECT) && top !== undefined;
    if (isEnd && expected.endsWith('or end')) {
      this.stack.pop();
      this.afterValue();
      this.at++;
      return true;
    }
    switch (expected) {
      case 'value':
      case 'value or end':
        this.beginValue(byte);
        return true;
      case 'key':
      case 'key or end':
        if (byte === QUOTE) return this.readKey();
        break;
      case 'colon':
        if (byte === COLON) return this.step('value');
        break;
      case 'comma or end':
        if (byte === COMMA) return this.step(top?.isArray === true ? 'value' : 'key');
        break;
    }
    const found = quoted(String.fromCharCode(byte ?? 0));
    throw this.error(this.at, `not JSON: expected a ${expected}, found ${found}`);
  }

  private step(expected: Expected): true {
    this.expected = expected;
    this.at++;
    return true;
  }

  private afterValue(): void {
    if (this.stack.length === 0) this.texts++;
    this.expected = this.stack.length === 0 ? 'value' : 'comma or end';
  }

  private readKey(): boolean {
    let end = this.at + 1;
    while (end < this.buffer.length && this.buffer[end] !== QUOTE) end += this.buffer[end] === BACKSLASH ? 2 : 1;
    if (end >= this.buffer.length) {
      if (this.buffer.length - this.at > MAX_KEY_BYTES) throw this.error(this.at, 'this key is too long');
      return false;
    }
    this.key = String(this.parse(this.at, end + 1));
    this.at = end;
    return this.step('colon');
  }

  private beginValue(byte: number | undefined): void {
    const parent = this.stack.at(-1);
    const depth = this.stack.length;
    const isContainer = byte === OPEN_OBJECT || byte === OPEN_ARRAY;
    const segment = parent?.isArray === true ? ELEMENTS : this.key;
    const fits = (path: number): boolean => depth === 0 || this.paths[path]?.[depth - 1] === segment;
    const paths = (parent?.paths ?? this.paths.map((_path, index) => index)).filter(fits);
    const wanted = paths.find((path) => this.paths[path]?.length === depth);
    if (wanted === undefined && paths.length > 0 && isContainer) {
      const isArray = byte === OPEN_ARRAY;
      const owner = parent?.owner ?? (parent?.isArray === true ? this.base + this.at : undefined);
      this.stack.push({ isArray, paths, owner });
      this.step(isArray ? 'value or end' : 'key or end');
      return;
    }
    this.value = { path: wanted, start: this.at, depth: 0, inString: false };
  }

  /** Moves to the end of a value without parsing it. @returns false at the chunk's end */
  private advanceValue(value: NonNullable<JsonPicker['value']>): boolean {
    const { buffer } = this;
    const { length } = buffer;
    let { at } = this;
    let { depth, inString } = value;
    let isDone = false;
    while (at < length && !isDone) {
      if (inString) {
        while (at < length && buffer[at] !== QUOTE) at += buffer[at] === BACKSLASH ? 2 : 1;
        if (at >= length) break;
        inString = false;
        at++;
        isDone = depth === 0;
        continue;
      }
      const byte = buffer[at];
      if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++depth > MAX_DEPTH) throw this.error(at, `nested deeper than ${MAX_DEPTH} levels`);
      } else if (depth === 0) {
        isDone = endsLiteral(byte);
        if (isDone) break;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) isDone = --depth === 0;
      at++;
    }
    this.at = at;
    if (isDone) {
      if (at === value.start) throw this.error(at, 'not JSON: expected a value');
      this.finishValue(at);
    } else {
      value.depth = depth;
      value.inString = inString;
      if (value.path !== undefined && length - value.start > MAX_VALUE_BYTES) {
        throw this.error(value.start, `a single value of more than ${MAX_VALUE_BYTES} bytes begins here`);
      }
    }
    return isDone;
  }

  private finishValue(end: number): void {
    const { value } = this;
    this.value = undefined;
    this.afterValue();
    if (value?.path === undefined) return;
    const offset = this.base + value.start;
    this.onValue(value.path, this.parse(value.start, end), offset, this.stack.at(-1)?.owner ?? offset);
  }

  private parse(start: number, end: number): unknown {
    try {
      return JSON.parse(this.buffer.toString('utf8', start, end));
    } catch (error) {
      throw this.error(start, `not JSON: ${messageOf(error).slice(0, 200)}`, error);
    }
  }
}
