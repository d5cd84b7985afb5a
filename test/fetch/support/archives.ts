import { crc32 } from 'node:zlib';

/** A file or link in an archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly content?: Uint8Array | string;
  /** The target of the entry, where it is a link. */
  readonly linkTo?: string;
}

const BLOCK = 512;

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}

/** A header of POSIX ustar (IEEE Std 1003.1-1988). */
function tarHeader({ name, linkTo = '' }: ArchiveEntry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): number => header.write(text, at, 'latin1');
  put(name, 0);
  put(octal(0o644, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(0, 12), 136);
  put(' '.repeat(8), 148);
  put(linkTo === '' ? '0' : '2', 156);
  put(linkTo, 157);
  put('ustar\0', 257);
  put('00', 263);
  put(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  return header;
}

export function tarOf(entries: readonly ArchiveEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '');
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return [tarHeader(entry, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

const UNIX = 3 << 8;
const LINK_MODE = 0o120777;

/** The fields that local and central headers of PKWARE's APPNOTE 6.3 have in common. */
function zipFields({ name, content = '', linkTo }: ArchiveEntry) {
  const bytes = Buffer.from(linkTo ?? content);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(bytes.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return { fields, bytes, mode: linkTo === undefined ? 0 : LINK_MODE };
}

export function zipOf(entries: readonly ArchiveEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { fields, bytes, mode } = zipFields(entry);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(entry.name), bytes]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    const version = Buffer.alloc(2);
    version.writeUInt16LE(UNIX | 20);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), version, fields, rest, Buffer.from(entry.name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
