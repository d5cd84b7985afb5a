import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Random } from '../random.js';
import { hostileInteger, hostileName } from './hostile-values.js';
import { type Grammar, mutateTree } from './tree.js';

/** A field of a protocol buffers message on the wire. Bytes that can be parsed as a message count as a message. */
type Field =
  | { readonly kind: 'message'; readonly number: number; readonly fields: readonly Field[] }
  | { readonly kind: 'integer'; readonly number: number; readonly value: bigint }
  | {
      readonly kind: 'fixed';
      readonly number: number;
      readonly wire: WireType.Bit32 | WireType.Bit64;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'bytes'; readonly number: number; readonly bytes: Uint8Array };

/** A larger number means that the bytes are no message. */
const MAX_FIELD_NUMBER = 64;

function parseFields(bytes: Uint8Array): readonly Field[] | undefined {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  try {
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (number > MAX_FIELD_NUMBER) return undefined;
      if (wire === WireType.Varint) fields.push({ kind: 'integer', number, value: BigInt(reader.uint64()) });
      else if (wire === WireType.LengthDelimited) fields.push(parseField(number, reader.bytes()));
      else if (wire === WireType.Bit32 || wire === WireType.Bit64) {
        const start = reader.pos;
        reader.skip(wire);
        fields.push({ kind: 'fixed', number, wire, bytes: bytes.slice(start, reader.pos) });
      } else return undefined;
    }
    return reader.pos === reader.len ? fields : undefined;
  } catch {
    return undefined;
  }
}

function parseField(number: number, bytes: Uint8Array): Field {
  const fields = bytes.length === 0 ? undefined : parseFields(bytes);
  return fields === undefined ? { kind: 'bytes', number, bytes } : { kind: 'message', number, fields };
}

function write(fields: readonly Field[], writer: BinaryWriter): BinaryWriter {
  for (const field of fields) {
    switch (field.kind) {
      case 'message':
        write(field.fields, writer.tag(field.number, WireType.LengthDelimited).fork()).join();
        break;
      case 'integer':
        writer.tag(field.number, WireType.Varint).uint64(field.value);
        break;
      case 'fixed':
        writer.tag(field.number, field.wire).raw(field.bytes);
        break;
      case 'bytes':
        writer.tag(field.number, WireType.LengthDelimited).bytes(field.bytes);
        break;
    }
  }
  return writer;
}

function hostileBytes(random: Random): Uint8Array {
  if (random.oneIn(2)) return Buffer.from(hostileName(random));
  return Uint8Array.from({ length: random.below(20) }, () => random.below(256));
}

function hostileField(field: Field, random: Random): Field {
  const number = random.oneIn(4) ? 1 + random.below(30) : field.number;
  if (random.oneIn(4)) return { kind: 'bytes', number, bytes: hostileBytes(random) };
  switch (field.kind) {
    case 'message':
      return { ...field, number };
    case 'integer':
      return { kind: 'integer', number, value: hostileInteger(random) };
    case 'fixed':
      return { ...field, number, bytes: field.bytes.map(() => random.pick([0, 1, 0x7f, 0x80, 0xff])) };
    case 'bytes':
      return random.oneIn(4)
        ? { kind: 'integer', number, value: hostileInteger(random) }
        : { kind: 'bytes', number, bytes: hostileBytes(random) };
  }
}

const GRAMMAR: Grammar<Field> = {
  parts: (field) => (field.kind === 'message' ? field.fields : []),
  withParts: (field, fields) => (field.kind === 'message' ? { ...field, fields } : field),
  kind: ({ number }) => number,
  hostile: hostileField,
};

/** A protocol buffers message with one change of its structure; other bytes are returned unchanged. */
export function mutateMessage(bytes: Uint8Array, random: Random): Uint8Array {
  const fields = parseFields(bytes);
  if (fields === undefined) return bytes;
  const mutated = mutateTree<Field>({ kind: 'message', number: 1, fields }, GRAMMAR, random);
  return write(mutated.kind === 'message' ? mutated.fields : [mutated], new BinaryWriter()).finish();
}
