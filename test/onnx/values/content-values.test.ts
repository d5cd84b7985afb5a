import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import { contentValues } from '../../../src/onnx/values/content-values.js';

function valuesOf(elementType: ElementType, elements: ArrayBufferView) {
  // Content may begin anywhere in its buffer.
  const content = Buffer.concat([Buffer.of(0), new Uint8Array(elements.buffer)]).subarray(1);
  return contentValues({ elementType, dims: [content.length], content });
}

describe('the content of a value as the values of an input', () => {
  test('is a list, and its bounds', () => {
    assert.deepEqual(valuesOf('float32', Float32Array.of(0.5, -2)), { low: -2, high: 0.5, list: [0.5, -2] });
    assert.deepEqual(valuesOf('bool', Uint8Array.of(1, 0)), { low: 0, high: 1, list: [1, 0] });
    assert.deepEqual(valuesOf('float16', Uint16Array.of(0x3c00, 0xc000)), { low: -2, high: 1, list: [1, -2] });
    assert.deepEqual(valuesOf('int64', BigInt64Array.of(7n)), { low: 7, high: 7 });
  });

  test('has finite numbers that are exact', () => {
    const most = 3.4028234663852886e38;
    assert.deepEqual(valuesOf('float32', Float32Array.of(-Infinity, NaN, Infinity))?.list, [-most, 0, most]);
    const forever = valuesOf('int64', BigInt64Array.of(2n ** 63n - 1n));
    assert.deepEqual([forever?.low, forever?.high], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  });

  test('is known for a value without elements, and unknown for one without content or with a type that cannot be given', () => {
    assert.deepEqual(valuesOf('float32', new Float32Array()), { low: 0, high: 0 });
    assert.equal(contentValues({ elementType: 'float32', dims: [2] }), undefined);
    for (const elementType of ['string', 'int4', 'bfloat16', 'float8e5m2'] as const) {
      assert.equal(valuesOf(elementType, Uint8Array.of(1, 2)), undefined);
    }
  });
});
