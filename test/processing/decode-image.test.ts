import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { decodeImage } from '../../src/processing/decode-image.js';
import { MAX_PIXELS } from '../../src/processing/image.js';

const photo = readFileSync(join(import.meta.dirname, '../../../test/processing/fixtures/photo.jpg'));

function chunk(type: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, 'latin1');
  // The decoder checks sums only after sizes.
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}

/** A PNG of a few hundred bytes whose header claims this size. */
function claimingPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(1000)))]);
}

describe('decoding pictures', () => {
  const picture = sharp(Buffer.alloc(5 * 4 * 4, 200), { raw: { width: 5, height: 4, channels: 4 } });

  for (const format of ['jpeg', 'png', 'webp', 'gif'] as const) {
    test(`${format}: three bytes a pixel`, async () => {
      const { width, height, pixels } = await decodeImage(await picture.clone().toFormat(format).toBuffer());
      assert.deepEqual([width, height, pixels.length], [5, 4, 60]);
    });
  }

  test('base64 text is decoded to the same picture', async () => {
    const plain = await decodeImage(photo);
    const fromText = await decodeImage(Buffer.from(photo.toString('base64')));
    assert.deepEqual(fromText, plain);
  });

  test('orientation tags are ignored', async () => {
    const turned = await sharp(photo).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { width, height } = await decodeImage(turned);
    assert.deepEqual([width, height], [40, 32]);
  });

  const damaged: readonly [string, Uint8Array, RegExp][] = [
    ['nothing', new Uint8Array(), /found 0 bytes/],
    ['noise', Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) & 255), /unsupported image format/],
    ['a text', Buffer.from('not a picture at all'), /unsupported image format/],
    ['a picture cut short', photo.subarray(0, photo.length / 2), /found \d+ bytes/],
    ['a program', readFileSync(process.execPath).subarray(0, 10_000), /unsupported image format/],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), /unsupported image format/],
    ['PDF', Buffer.from('%PDF-1.4\n%âãÏÓ'), /unsupported image format/],
    ['a picture that claims a gigapixel', claimingPng(32_768, 32_768), /exceeds pixel limit/],
    ['a picture just over the limit', claimingPng(8192, MAX_PIXELS / 8192 + 1), /exceeds pixel limit/],
  ];
  for (const [name, bytes, message] of damaged) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(decodeImage(bytes), { code: 'usage', message });
    });
  }

  test('refuses TIFF, which the library itself could read', async () => {
    const tiff = await picture.clone().toFormat('tiff').toBuffer();
    await assert.rejects(decodeImage(tiff), { code: 'usage', message: /unsupported image format/ });
    await assert.rejects(decodeImage(Buffer.from('x')), { message: /found 1 byte: / });
  });
});
