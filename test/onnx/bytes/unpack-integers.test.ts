import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { unpackIntegers } from '../../../src/onnx/bytes/unpack-integers.js';

const VALUES = [1, -2, 127, -128];

const packed = VALUES.reduce((writer, value) => writer.int32(value), new BinaryWriter()).finish();

for (const [bits, List] of [
  [8, Int8Array],
  [16, Int16Array],
  [32, Int32Array],
  [64, BigInt64Array],
] as const) {
  test(`a packed list becomes elements of ${bits} bits`, () => {
    const bytes = unpackIntegers(packed, VALUES.length, bits);
    const elements = new List(Uint8Array.from(bytes ?? assert.fail()).buffer);
    assert.deepEqual(Array.from(elements, Number), VALUES);
    for (const count of [3, 5]) assert.equal(unpackIntegers(packed, count, bits), undefined, `${count} values`);
  });
}
