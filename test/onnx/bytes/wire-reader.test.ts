import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireType } from '@bufbuild/protobuf/wire';
import { bufferSource } from '../../../src/onnx/bytes/byte-source.js';
import { WireReader } from '../../../src/onnx/bytes/wire-reader.js';

test('a number that ends after its message is refused', () => {
  for (const [wireType, bytes] of [
    [WireType.Bit32, 4],
    [WireType.Bit64, 8],
  ] as const) {
    const source = bufferSource('m.onnx', new Uint8Array(16));
    assert.equal(new WireReader(source).skip(wireType, bytes), bytes);
    assert.throws(() => new WireReader(source).skip(wireType, bytes - 1), /a number is cut off/);
  }
});
