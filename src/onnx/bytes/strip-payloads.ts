import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PlatformError } from '../../base/errors.js';
import type { ByteSource } from './byte-source.js';
import { FIELDS, type MessageName, type Rule, RULES } from './field-numbers.js';
import { encodePayload, PAYLOAD_ENCODED_BYTES } from './payload.js';
import { checkNodes, type ReadingBudget } from './reading-budget.js';
import { decodeFieldNumber, decodeWireType } from './wire-format.js';
import { WireReader } from './wire-reader.js';

/** Most levels of nested messages: the default limit of protobuf implementations, including ONNX Runtime's. */
const MAX_DEPTH = 100;

/** Memory limit of a decoded model. Costs are estimates of what the generated decoder makes per message and value. */
const STRUCTURE_LIMIT_BYTES = 768 * 2 ** 20;
const MESSAGE_COST_BYTES = 64;
const FIELD_COST_BYTES = 32;
const VALUE_COST_BYTES = 64;
const PACKED_INTEGER_COST_BYTES = 32;

interface KeptFields {
  readonly rules: ReadonlyMap<number, Exclude<Rule, 'dropped'>>;
  readonly costBytes: number;
}

function keptFields(name: MessageName): KeptFields {
  const rules = new Map<number, Exclude<Rule, 'dropped'>>();
  for (const field of Object.values(RULES[name])) {
    const [number, rule] = typeof field === 'number' ? [field, 'value' as const] : field;
    if (rule !== 'dropped') rules.set(number, rule);
  }
  return { rules, costBytes: MESSAGE_COST_BYTES + FIELD_COST_BYTES * rules.size };
}

const MESSAGES = Object.fromEntries(
  (Object.keys(FIELDS) as MessageName[]).map((name) => [name, keptFields(name)]),
) as Readonly<Record<MessageName, KeptFields>>;

const { irVersion, modelVersion, ...modelBytes } = FIELDS.ModelProto;

/** Fields of a ModelProto that proto/onnx/onnx.proto does not declare: training_info and configuration. */
const UNDECLARED = [20, 26];

/** Fields with which a ModelProto can begin, by their wire types. */
const MODEL_VARINTS: ReadonlySet<number> = new Set([irVersion, modelVersion]);
const MODEL_BYTES: ReadonlySet<number> = new Set([...Object.values(modelBytes), ...UNDECLARED]);

function beginsModel(tag: number): boolean {
  switch (decodeWireType(tag)) {
    case WireType.Varint:
      return MODEL_VARINTS.has(decodeFieldNumber(tag));
    case WireType.LengthDelimited:
      return MODEL_BYTES.has(decodeFieldNumber(tag));
    default:
      return false;
  }
}

class Stripper {
  readonly #reader: WireReader;
  readonly #out = new BinaryWriter();
  #costBytes = 0;
  /** Around the current message. */
  #graphs = 0;
  #nodes = 0;

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
    if (!beginsModel(tag)) throw new PlatformError('model', `${this.source.name} ${this.#whatItIs()}`);
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
    const { rules, costBytes } = MESSAGES[name];
    this.#charge(costBytes);
    if (name === 'GraphProto') this.#graphs++;
    if (name === 'NodeProto') checkNodes((this.#nodes += Math.max(1, this.#graphs)), this.source.name);
    let payloads = 0;
    while (reader.position < end) {
      const at = reader.position;
      const tag = reader.tag(end);
      const rule = rules.get(decodeFieldNumber(tag));
      if (rule === undefined) reader.skip(decodeWireType(tag), end);
      else if (rule === 'value' || rule === 'integers') this.#value(tag, end, rule);
      else if (decodeWireType(tag) !== WireType.LengthDelimited) {
        reader.fail(
          at,
          `field ${decodeFieldNumber(tag)} of a ${name} has wire type ${decodeWireType(tag)}, which this project does not read`,
        );
      } else if (rule === 'payload') {
        if (this.#payload(decodeFieldNumber(tag), end) && ++payloads > 1)
          reader.fail(at, 'a tensor has its values in several pieces');
      } else {
        this.#out.uint32(tag).fork();
        const length = reader.length(end);
        this.#message(rule, reader.position + length, depth + 1);
        this.#out.join();
      }
    }
    if (name === 'GraphProto') this.#graphs--;
  }

  #value(tag: number, end: number, rule: 'value' | 'integers'): void {
    const reader = this.#reader;
    const start = reader.position;
    const byteLength = reader.skip(decodeWireType(tag), end);
    const packed = rule === 'integers' && decodeWireType(tag) === WireType.LengthDelimited;
    this.#charge(VALUE_COST_BYTES + byteLength * (packed ? PACKED_INTEGER_COST_BYTES : 2));
    reader.position = start;
    this.#out.uint32(tag);
    reader.copy(byteLength, (piece) => this.#out.raw(piece));
  }

  /**
   * Replaces values by their place. @returns whether there are any: writers may leave an empty list beside the field
   */
  #payload(field: number, end: number): boolean {
    const reader = this.#reader;
    const byteLength = reader.length(end);
    const offset = reader.position;
    reader.position += byteLength;
    if (byteLength === 0) return false;
    this.#charge(VALUE_COST_BYTES + PAYLOAD_ENCODED_BYTES);
    this.#out
      .tag(FIELDS.TensorProto.rawData, WireType.LengthDelimited)
      .bytes(encodePayload({ field, offset, byteLength }));
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
 * Copies an ONNX file without tensors' values, at any depth: `raw_data` says where they are (payload.ts). Decoding the
 * well-formed copy takes limited memory. @throws PlatformError 'model': no ONNX file, damaged, or beyond the limits
 */
export function stripPayloads(source: ByteSource, budget: ReadingBudget): Uint8Array {
  return new Stripper(source, budget).strip();
}
