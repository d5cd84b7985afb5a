import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ELEMENT_TYPE_NAMES, ELEMENT_TYPES, elementTypeOfProfile } from '../../../src/onnx/model/element-type.js';

test('an element fills an element of its array, or several elements share a byte', () => {
  for (const name of ELEMENT_TYPE_NAMES.filter((type) => type !== 'string')) {
    const { array, bits } = ELEMENT_TYPES[name];
    assert.equal(array.BYTES_PER_ELEMENT * 8, Math.max(8, bits), name);
  }
});

test('a type has the code that the ONNX format gives it', () => {
  const inOrder = (
    'undefined float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32 uint64 complex64 ' +
    'complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2'
  ).split(' ');
  for (const name of ELEMENT_TYPE_NAMES) assert.equal(inOrder[ELEMENT_TYPES[name].code], name);
});

test('the C++ types of profiles map to element types, and other names stay as they are', () => {
  // ONNX Runtime: DataTypeImpl::ToString; PyTorch: the profiler's "Input type".
  assert.deepEqual(
    ['float', 'double', 'int64', 'c10::Half'].map((name) => elementTypeOfProfile(name, 'onnxruntime')),
    ['float32', 'float64', 'int64', 'c10::Half'],
  );
  assert.deepEqual(
    ['float', 'double', 'long int', 'int', 'bool'].map((name) => elementTypeOfProfile(name, 'pytorch')),
    ['float32', 'float64', 'int64', 'int32', 'bool'],
  );
});
