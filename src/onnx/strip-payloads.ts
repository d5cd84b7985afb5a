import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { PlatformError } from '../base/errors.js';
import type { ByteSource } from './byte-source.js';
import { encodePayload, PAYLOAD_ENCODED_BYTES, PAYLOAD_FIELD } from './payload.js';
import type { ReadingBudget } from './reading-budget.js';
import { WIRE_TYPE, WireReader } from './wire-reader.js';

/** Nested messages that protobuf implementations accept by default, ONNX Runtime's among them. */
const MAX_DEPTH = 100;

/**
 * What the decoded structure of a model may take in memory. The costs are estimates of what the generated decoder makes
 * per message (an object with a slot or a list for each field), per value, and per byte of a packed integer list.
 */
const STRUCTURE_LIMIT_BYTES = 768 * 2 ** 20;
const MESSAGE_COST_BYTES = 64;
const FIELD_COST_BYTES = 32;
const VALUE_COST_BYTES = 64;
const PACKED_INTEGER_COST_BYTES = 32;

/** A value is copied, a list of integers as well, a payload is replaced by where it is, a message is walked through. */
type Rule = 'value' | 'integers' | 'payload' | MessageName;
type MessageName =
  | 'ModelProto'
  | 'OperatorSetIdProto'
  | 'GraphProto'
  | 'NodeProto'
  | 'AttributeProto'
  | 'TensorProto'
  | 'StringStringEntryProto'
  | 'SparseTensorProto'
  | 'ValueInfoProto'
  | 'TypeProto'
  | 'ElementTypeProto'
  | 'MapTypeProto'
  | 'TensorTypeProto'
  | 'TensorShapeProto'
  | 'DimensionProto'
  | 'FunctionProto';

const PAIR = { 1: 'value', 2: 'value' } as const;

/** The fields that are kept, by number (see proto/onnx/onnx.proto). All others, documentation among them, are dropped. */
const MESSAGES: Readonly<Record<MessageName, Readonly<Record<number, Rule>>>> = {
  ModelProto: { 1: 'value', 7: 'GraphProto', 8: 'OperatorSetIdProto', 25: 'FunctionProto' },
  OperatorSetIdProto: PAIR,
  GraphProto: {
    1: 'NodeProto',
    2: 'value',
    5: 'TensorProto',
    11: 'ValueInfoProto',
    12: 'ValueInfoProto',
    13: 'ValueInfoProto',
    15: 'SparseTensorProto',
  },
  NodeProto: { 1: 'value', 2: 'value', 3: 'value', 4: 'value', 5: 'AttributeProto', 7: 'value', 8: 'value' },
  AttributeProto: {
    1: 'value',
    2: 'value',
    3: 'value',
    4: 'value',
    5: 'TensorProto',
    6: 'GraphProto',
    7: 'value',
    8: 'integers',
    9: 'value',
    10: 'TensorProto',
    11: 'GraphProto',
    14: 'TypeProto',
    15: 'TypeProto',
    20: 'value',
    21: 'value',
    22: 'SparseTensorProto',
    23: 'SparseTensorProto',
  },
  TensorProto: {
    1: 'integers',
    2: 'value',
    6: 'value',
    8: 'value',
    13: 'StringStringEntryProto',
    14: 'value',
    [PAYLOAD_FIELD.floatData]: 'payload',
    [PAYLOAD_FIELD.int32Data]: 'payload',
    [PAYLOAD_FIELD.int64Data]: 'payload',
    [PAYLOAD_FIELD.rawData]: 'payload',
    [PAYLOAD_FIELD.doubleData]: 'payload',
    [PAYLOAD_FIELD.uint64Data]: 'payload',
  },
  StringStringEntryProto: PAIR,
  SparseTensorProto: { 1: 'TensorProto', 2: 'TensorProto' },
  ValueInfoProto: { 1: 'value', 2: 'TypeProto' },
  TypeProto: {
    1: 'TensorTypeProto',
    4: 'ElementTypeProto',
    5: 'MapTypeProto',
    8: 'TensorTypeProto',
    9: 'ElementTypeProto',
  },
  ElementTypeProto: { 1: 'TypeProto' },
  MapTypeProto: { 1: 'value', 2: 'TypeProto' },
  TensorTypeProto: { 1: 'value', 2: 'TensorShapeProto' },
  TensorShapeProto: { 1: 'DimensionProto' },
  DimensionProto: PAIR,
  FunctionProto: {
    1: 'value',
    4: 'value',
    5: 'value',
    6: 'value',
    7: 'NodeProto',
    9: 'OperatorSetIdProto',
    10: 'value',
    11: 'AttributeProto',
    13: 'value',
  },
};

const MESSAGE_COSTS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(MESSAGES).map(([name, rules]) => [
    name,
    MESSAGE_COST_BYTES + FIELD_COST_BYTES * Object.keys(rules).length,
  ]),
);

/** Field numbers and wire types with which a ModelProto can begin. */
const MODEL_VARINTS: ReadonlySet<number> = new Set([1, 5]);
const MODEL_BYTES: ReadonlySet<number> = new Set([2, 3, 4, 6, 7, 8, 14, 20, 25, 26]);

class Stripper {
  readonly #reader: WireReader;
  readonly #out = new BinaryWriter();
  #costBytes = 0;

  constructor(
    readonly source: ByteSource,
    private readonly budget: ReadingBudget,
  ) {
    this.#reader = new WireReader(source);
  }

  strip(): Uint8Array {
    this.#checkBeginning();
    this.#message('ModelProto', this.source.byteLength, 1);
    return this.#out.finish();
  }

  #checkBeginning(): void {
    const [tag = 0] = this.source.byteLength === 0 ? [] : this.source.window(0);
    const fields = (tag & 7) === WIRE_TYPE.varint ? MODEL_VARINTS : MODEL_BYTES;
    if (((tag & 7) === WIRE_TYPE.varint || (tag & 7) === WIRE_TYPE.bytes) && fields.has(tag >>> 3)) return;
    throw new PlatformError('model', `${this.source.name} ${this.#whatItIs()}`);
  }

  #whatItIs(): string {
    if (this.source.byteLength === 0) return 'is empty. Copy, download or export the model again.';
    const beginning = Buffer.from(this.source.window(0).subarray(0, 64)).toString('latin1');
    if (beginning.startsWith('version https://git-lfs')) {
      return 'is a Git LFS pointer, not the model itself. Fetch the model with "git lfs pull".';
    }
    return 'is not an ONNX file. Name a model in ONNX format (usually *.onnx), or export one.';
  }

  #message(name: MessageName, end: number, depth: number): void {
    const reader = this.#reader;
    if (depth > MAX_DEPTH) reader.fail(reader.position, `messages are nested more than ${MAX_DEPTH} deep`);
    this.#charge(MESSAGE_COSTS[name] ?? MESSAGE_COST_BYTES);
    const rules = MESSAGES[name];
    let payloads = 0;
    while (reader.position < end) {
      const at = reader.position;
      const tag = reader.tag(end);
      const rule = rules[tag >>> 3];
      if (rule === undefined) reader.skip(tag & 7, end);
      else if (rule === 'value' || rule === 'integers') this.#value(tag, end, rule);
      else if ((tag & 7) !== WIRE_TYPE.bytes) {
        reader.fail(at, `field ${tag >>> 3} of a ${name} has wire type ${tag & 7}, which this project does not read`);
      } else if (rule === 'payload') {
        if (this.#payload(tag >>> 3, end) && ++payloads > 1)
          reader.fail(at, 'a tensor has its values in several pieces');
      } else {
        this.#out.uint32(tag).fork();
        const length = reader.length(end);
        this.#message(rule, reader.position + length, depth + 1);
        this.#out.join();
      }
    }
  }

  #value(tag: number, end: number, rule: 'value' | 'integers'): void {
    const reader = this.#reader;
    const start = reader.position;
    const byteLength = reader.skip(tag & 7, end);
    const packed = rule === 'integers' && (tag & 7) === WIRE_TYPE.bytes;
    this.#charge(VALUE_COST_BYTES + byteLength * (packed ? PACKED_INTEGER_COST_BYTES : 2));
    reader.position = start;
    this.#out.uint32(tag);
    reader.copy(byteLength, (piece) => this.#out.raw(piece));
  }

  /** True where there are values at all; writers may leave an empty list beside the field that they use. */
  #payload(field: number, end: number): boolean {
    const reader = this.#reader;
    const byteLength = reader.length(end);
    const offset = reader.position;
    reader.position += byteLength;
    if (byteLength === 0) return false;
    this.#charge(VALUE_COST_BYTES + PAYLOAD_ENCODED_BYTES);
    this.#out.tag(PAYLOAD_FIELD.rawData, WIRE_TYPE.bytes).bytes(encodePayload({ field, offset, byteLength }));
    return true;
  }

  #charge(bytes: number): void {
    this.#costBytes += bytes;
    this.budget.addStructure(bytes, this.source.name);
    if (this.#costBytes <= STRUCTURE_LIMIT_BYTES) return;
    throw new PlatformError(
      'model',
      `${this.source.name}: the graph alone, weights aside, would take more than ${STRUCTURE_LIMIT_BYTES / 2 ** 20} MiB ` +
        'of memory. Split the model, or export it with its constants as initializers.',
    );
  }
}

/**
 * Copies an ONNX file's ModelProto without the values of its tensors, at any depth: in each TensorProto `raw_data` says
 * where the values are (see payload.ts) instead of holding them. Only what this project uses is copied, and nothing is
 * read that is not copied, so that time and memory depend on the graph and not on the weights. The copy is
 * well-formed: lengths fit, nesting is limited, and decoding it takes a limited amount of memory.
 *
 * @throws PlatformError 'model' where the file is no ONNX file, damaged, or beyond the limits
 */
export function stripPayloads(source: ByteSource, budget: ReadingBudget): Uint8Array {
  return new Stripper(source, budget).strip();
}
