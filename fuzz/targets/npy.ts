import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readNpy } from '../../src/onnx/values/npy-file.js';
import { mutateBytes } from '../mutate/bytes.js';
import { hostileCount, hostileName, hostileNumber } from '../mutate/hostile-values.js';
import { mutateText } from '../mutate/text.js';
import type { Random } from '../random.js';
import { readOrRefused, type Target } from './target.js';

/** The parts of a file of numpy.save. Format: numpy.lib.format. */
interface Parts {
  readonly version: number;
  readonly header: string;
  readonly data: Uint8Array;
}

const TYPES = ['<f8', '<f4', '<f2', '<i8', '<u8', '<i4', '<u4', '<i2', '<u2', '|i1', '|u1', '|b1', '>f8', '|O', '<U9'];

function headerOf(type: string, shape: string, order = 'False'): string {
  return `{'descr': '${type}', 'fortran_order': ${order}, 'shape': (${shape}), }`;
}

function fileOf({ version, header, data }: Parts): Buffer {
  const text = Buffer.from(`${header}\n`, 'latin1');
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  if (version === 1) length.writeUInt16LE(text.length % 2 ** 16);
  else length.writeUInt32LE(text.length);
  return Buffer.concat([Buffer.from([0x93, ...Buffer.from('NUMPY'), version, 0]), length, text, data]);
}

/** The parts of a file, as far as it has them: it may be damaged. */
function partsOf(file: Uint8Array): Parts {
  const bytes = Buffer.from(file);
  const version = bytes[6] ?? 1;
  const start = version === 1 ? 10 : 12;
  const end = bytes.indexOf('\n', start) + 1 || bytes.length;
  return { version, header: bytes.toString('latin1', start, end).trimEnd(), data: bytes.subarray(end) };
}

function mutateParts({ version, header, data }: Parts, random: Random): Parts {
  switch (random.below(6)) {
    case 0:
      return { version: random.pick([1, 2, 3, 0, 255]), header, data };
    case 1:
      return { version, header: mutateText(header, random), data };
    case 2: {
      const dims = Array.from({ length: hostileCount(random, 1000) }, () => hostileNumber(random));
      return { version, header: headerOf(random.pick(TYPES), dims.join(', ')), data };
    }
    case 3: {
      const type = random.oneIn(2) ? hostileName(random) : random.pick(TYPES);
      return { version, header: header.replace(/'descr': '[^']*'/, `'descr': '${type}'`), data };
    }
    case 4:
      return { version, header: `${' '.repeat(hostileCount(random, 20_000))}${header}`, data };
    default: {
      // Among others, one number more than an array may have.
      const count = random.pick([0, 1, 65_536, 65_537, random.below(100)]);
      const [type, width] = random.pick([['<f8', 8] as const, ['<i2', 2] as const, ['|b1', 1] as const]);
      return {
        version,
        header: headerOf(type, `${count},`),
        data: new Uint8Array(count * width).fill(random.below(256)),
      };
    }
  }
}

/** Arrays of NumPy, which give the values of inputs. */
export const npy: Target = {
  name: 'npy',
  seeds() {
    const data = new Uint8Array(BigInt64Array.of(3n, 1n, 4n, 1n, 5n, 9n).buffer);
    return Promise.resolve([
      fileOf({ version: 1, header: headerOf('<i8', '2, 3'), data }),
      fileOf({ version: 2, header: headerOf('<f4', '12,'), data }),
      fileOf({ version: 1, header: headerOf('<f8', ''), data: data.subarray(0, 8) }),
      fileOf({ version: 1, header: headerOf('|u1', '0, 4'), data: data.subarray(0, 0) }),
    ]);
  },
  mutate: (input, random) => {
    return random.oneIn(6) ? mutateBytes(input, random) : fileOf(mutateParts(partsOf(input), random));
  },
  async check(input, folder) {
    const path = join(folder, 'array.npy');
    await writeFile(path, input);
    return readOrRefused(() => readNpy(path), path);
  },
};
