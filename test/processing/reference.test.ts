import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { imageStepsField } from '../../src/manifest/steps.js';
import type { ElementType } from '../../src/onnx/model/element-type.js';
import { elementsOf } from '../../src/predictor/tensor-value.js';
import { decodeImage } from '../../src/processing/decode-image.js';
import { fromFloat16Bits } from '../../src/onnx/model/float16.js';
import { preprocessImages } from '../../src/processing/preprocess.js';

/** fixtures/make_reference.py makes these numbers. */
interface Reference {
  readonly cases: readonly {
    readonly name: string;
    readonly picture: string;
    readonly elementType: ElementType;
    readonly steps: readonly unknown[];
    readonly dims: readonly number[];
    readonly first: readonly number[];
    readonly sha256: string;
  }[];
  readonly photo: { readonly dims: readonly number[]; readonly pixels: string };
}

const FIXTURES = join(import.meta.dirname, '../../../test/processing/fixtures');
const reference = JSON.parse(readFileSync(join(FIXTURES, 'reference.json'), 'utf8')) as Reference;

for (const { name, picture, elementType, steps: written, dims, first, sha256 } of reference.cases) {
  test(`${name}: the bytes that Pillow and NumPy make`, async () => {
    const steps = imageStepsField.parse(written);
    const image = { id: picture, bytes: readFileSync(join(FIXTURES, picture)) };
    const tensor = await preprocessImages([image, image], steps, elementType);
    const one = tensor.bytes.subarray(0, tensor.bytes.length / 2);
    const numbers = Array.from([...elementsOf(tensor).slice(0, first.length)], (value) => {
      return elementType === 'float16' ? fromFloat16Bits(Number(value)) : Number(value);
    });

    assert.deepEqual(numbers, first);
    assert.deepEqual(tensor.dims.slice(2), dims.slice(1), 'dims');
    assert.equal(createHash('sha256').update(one).digest('hex'), sha256);
    assert.deepEqual(tensor.bytes.subarray(one.length), one);
  });
}

test('a photograph is decoded as by Pillow, within a rounding of the inverse cosine transform', async () => {
  const { width, height, pixels } = await decodeImage(readFileSync(join(FIXTURES, 'photo.jpg')));
  const expected = Buffer.from(reference.photo.pixels, 'base64');
  const differences = expected.map((pixel, i) => Math.abs(pixel - (pixels[i] ?? 0)));

  assert.deepEqual([height, width, 3], reference.photo.dims);
  assert.ok(Math.max(...differences) <= 1, `they differ by ${Math.max(...differences)}`);
});
