import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { TensorProto } from '../../../src/generated/onnx/onnx.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import type { Tensor } from '../../../src/onnx/model/model.js';
import { parseModel, readModel } from '../../../src/onnx/read/read-model.js';
import { node, pipeline, tensor, tensorAttribute } from '../protos.js';
import { withTemporaryFolder } from '../temporary-folder.js';

function withWeight(weight: TensorProto): Uint8Array {
  return pipeline([node('Op', ['x', 'w'], ['y'])], { initializer: [weight] });
}

function weightOf(weight: TensorProto): Tensor {
  const read = parseModel(withWeight(weight), 'm.onnx').graph.initializers.get('w');
  assert.ok(read);
  return read;
}

function bytesOf({ data }: Tensor): number[] {
  assert.equal(data.kind, 'inline');
  return [...data.bytes];
}

describe('values are returned as raw little-endian bytes, from each field that may hold them', () => {
  const cases: [ElementType, number[], Partial<TensorProto>, number[]][] = [
    ['float32', [1], { floatData: [1] }, [0, 0, 0x80, 0x3f]],
    ['float64', [1], { doubleData: [1] }, [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]],
    ['int32', [2], { int32Data: [-2, 258] }, [0xfe, 0xff, 0xff, 0xff, 2, 1, 0, 0]],
    ['int8', [2], { int32Data: [-1, 5] }, [0xff, 5]],
    ['uint8', [2], { int32Data: [255, 5] }, [0xff, 5]],
    ['uint16', [1], { int32Data: [0xfffe] }, [0xfe, 0xff]],
    ['bool', [2], { int32Data: [1, 0] }, [1, 0]],
    ['float16', [1], { int32Data: [0x3c00] }, [0, 0x3c]],
    ['bfloat16', [1], { int32Data: [0x3f80] }, [0x80, 0x3f]],
    ['int4', [3], { int32Data: [0x21, 0x03] }, [0x21, 3]],
    ['int64', [2], { int64Data: [-1n, 2n ** 40n] }, [255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 1, 0, 0]],
    ['uint64', [1], { uint64Data: [2n ** 64n - 1n] }, [255, 255, 255, 255, 255, 255, 255, 255]],
    ['uint32', [1], { uint64Data: [0xfffffffen] }, [0xfe, 255, 255, 255]],
    ['float32', [0, 5], {}, []],
  ];
  for (const [elementType, dims, data, expected] of cases) {
    test(`${elementType} in ${Object.keys(data)[0] ?? 'no field'}`, () => {
      assert.deepEqual(bytesOf(weightOf(tensor('w', elementType, dims, data))), expected);
    });
  }

  test('strings', () => {
    const { data } = weightOf(tensor('w', 'string', [2], { stringData: [Buffer.from('a'), Buffer.from('bc')] }));
    assert.equal(data.kind, 'strings');
    assert.deepEqual(data.values.map(String.call, String).length, 2);
  });
});

describe('type, shape and values that do not match', () => {
  const wrong: [what: string, weight: TensorProto, pattern: RegExp][] = [
    ['too few bytes', tensor('w', 'float32', [3], { rawData: new Uint8Array(8) }), /8 bytes of values.*takes 12/],
    ['too many bytes', tensor('w', 'float32', [1], { rawData: new Uint8Array(8) }), /8 bytes of values.*takes 4/],
    ['no values', tensor('w', 'float32', [3], {}), /no values/],
    ['too few integers', tensor('w', 'int64', [3], { int64Data: [1n] }), /not the 3 integers/],
    ['too many integers', tensor('w', 'int64', [1], { int64Data: [1n, 2n] }), /not the 1 integers/],
    ['a field of another type', tensor('w', 'float32', [1], { int64Data: [1n] }), /cannot hold float32/],
    ['a negative size', tensor('w', 'float32', [-1], {}), /shape \[-1\]/],
    [
      'a product beyond the range of numbers',
      tensor('w', 'float32', [2 ** 40, 2 ** 40], { floatData: [1] }),
      /is impossible/,
    ],
    ['a huge shape over few integers', tensor('w', 'int64', [2 ** 45], { int64Data: [1n] }), /not the/],
    [
      'the wrong number of strings',
      tensor('w', 'string', [2], { stringData: [Buffer.from('a')] }),
      /it has 1 string, but/,
    ],
  ];
  for (const [what, weight, pattern] of wrong) {
    test(what, () => {
      assert.throws(() => parseModel(withWeight(weight), 'm.onnx'), { name: 'PlatformError', message: pattern });
      assert.throws(() => parseModel(withWeight(weight), 'm.onnx'), { message: /m\.onnx: initializer "w"/ });
    });
  }
});

test('integers that are not packed are refused rather than ignored', () => {
  const weight = new BinaryWriter().tag(1, 0).int64(1).tag(2, 0).int32(7).tag(8, 2).string('w').tag(7, 0).int64(5);
  const graph = new BinaryWriter().tag(5, 2).bytes(weight.finish()).finish();
  const bytes = new BinaryWriter().tag(1, 0).int64(8).tag(7, 2).bytes(graph).finish();
  assert.throws(() => parseModel(bytes, 'm.onnx'), /field 7 of a TensorProto has wire type 0/);
});

test('a tensor in an attribute of any size is loaded, as raw_data and without a name', async () => {
  const values = new Float32Array(100_000).fill(1.5);
  const t = tensor('secret', 'float32', [values.length], { floatData: [...values] });
  await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'm.onnx');
    await writeFile(path, pipeline([node('Op', ['x'], ['y'], [tensorAttribute('table', t)])]));
    const loaded = (await readModel(path)).graph.nodes[0]?.attributes[0]?.t;
    assert.deepEqual(loaded?.rawData, new Uint8Array(values.buffer));
    assert.equal(loaded?.name, '');
    assert.equal(loaded?.floatData.length, 0);
  });
});
