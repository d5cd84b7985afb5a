import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { PackageDefinition } from '@grpc/proto-loader';

/** The fields of google.protobuf.FieldDescriptorProto that are needed here. */
interface FieldDescriptor {
  readonly number: number;
  readonly type: string;
  readonly typeName: string;
}

interface MessageDescriptor {
  readonly name: string;
  readonly field: readonly FieldDescriptor[];
  readonly nestedType?: readonly MessageDescriptor[];
}

/** Maximum depth of nested messages; no message of the contract contains itself without end. */
const MAX_DEPTH = 6;

const VARINTS = new Set(['INT32', 'INT64', 'UINT32', 'UINT64', 'SINT32', 'SINT64', 'BOOL', 'ENUM']);

/** Makes messages of the contract with every field set. */
export class SampleMessages {
  readonly #messages = new Map<string, MessageDescriptor>();

  constructor(contract: PackageDefinition) {
    for (const [name, definition] of Object.entries(contract)) {
      if ('format' in definition && definition.format === 'Protocol Buffer 3 DescriptorProto') {
        this.#messages.set(name, definition.type as MessageDescriptor);
      }
    }
  }

  /** @param name in full, without a dot at the beginning */
  encode(name: string, depth = 0): Uint8Array {
    const writer = new BinaryWriter();
    for (const field of this.#messages.get(name)?.field ?? []) this.#writeField(field, name, depth, writer);
    return writer.finish();
  }

  #writeField({ number, type, typeName }: FieldDescriptor, around: string, depth: number, writer: BinaryWriter): void {
    const kind = type.replace('TYPE_', '');
    if (kind === 'MESSAGE') {
      if (depth === MAX_DEPTH) return;
      writer.tag(number, WireType.LengthDelimited).bytes(this.encode(this.#resolve(typeName, around), depth + 1));
    } else if (kind === 'STRING' || kind === 'BYTES') writer.tag(number, WireType.LengthDelimited).string('text');
    else if (VARINTS.has(kind)) writer.tag(number, WireType.Varint).uint32(1);
    else if (kind === 'FLOAT') writer.tag(number, WireType.Bit32).float(1);
    else writer.tag(number, WireType.Bit64).double(1);
  }

  /** Resolves a type's name as seen from a message, in the innermost scope that has it. */
  #resolve(typeName: string, around: string): string {
    if (typeName.startsWith('.')) return typeName.slice(1);
    for (let scope = around; scope !== ''; scope = scope.includes('.') ? scope.slice(0, scope.lastIndexOf('.')) : '') {
      if (this.#messages.has(`${scope}.${typeName}`)) return `${scope}.${typeName}`;
    }
    return typeName;
  }
}
