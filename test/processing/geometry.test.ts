import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyGeometry } from '../../src/processing/geometry.js';
import { CHANNELS, type Image, MAX_PIXELS } from '../../src/processing/image.js';
import { refusal } from '../rpc/support/refusal.js';

function pictureOf(width: number, height: number): Image {
  return { width, height, pixels: new Uint8Array(width * height * CHANNELS).fill(7) };
}

describe('resizing', () => {
  for (const method of ['nearest', 'bilinear', 'bicubic'] as const) {
    test(`by the shorter side makes no picture of billions of pixels out of a narrow one (${method})`, () => {
      for (const narrow of [pictureOf(1, 20_000), pictureOf(60_000, 1)]) {
        const resized = (): Image => applyGeometry(narrow, [{ operator: 'resize', shorterSide: 256, method }]);
        assert.throws(
          resized,
          refusal('usage', /resizing it from (1 x 20000 to 256 x 5120000|60000 x 1 to 15360000 x 256)/),
        );
      }
    });

    test(`makes no intermediate picture that is too large (${method})`, () => {
      const rows = MAX_PIXELS / 1024;
      const wide = (): Image =>
        applyGeometry(pictureOf(1, rows), [{ operator: 'resize', width: 1025, height: 8, method }]);
      assert.throws(wide, refusal('usage', /more than 67108864 pixels/));
    });

    test(`makes other pictures as before (${method})`, () => {
      const { width, height, pixels } = applyGeometry(pictureOf(3, 600), [
        { operator: 'resize', shorterSide: 4, method },
      ]);
      assert.deepEqual([width, height], [4, 800]);
      assert.ok(pixels.every((byte) => byte === 7));
    });
  }
});
