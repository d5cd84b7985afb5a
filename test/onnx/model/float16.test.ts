import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ELEMENT_TYPES, type ElementType } from '../../../src/onnx/model/element-type.js';
import { float16Bits, fromFloat16Bits } from '../../../src/onnx/model/float16.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { int } from '../protos.js';
import { runModel } from '../run-model.js';

/** The bits of every float16. */
const ALL = Uint16Array.from({ length: 0x1_0000 }, (_, bits) => bits);

/** The bits of the finite float16 from zero up, in ascending order of their values. */
const FINITE = ALL.subarray(0, 0x7c00);

/** The values of a constant after ONNX Runtime casts it to another element type. */
async function cast(from: ElementType, values: Uint16Array | Float32Array, to: ElementType): Promise<number[]> {
  const dims = [values.length];
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const attributes = [int('to', ELEMENT_TYPES[to].code)];
  const model = encodeModelToBytes({
    source: 'made',
    irVersion: 8,
    opsets: new Map([['', 17]]),
    graph: {
      name: 'cast',
      nodes: [{ name: '', opType: 'Cast', domain: '', inputs: ['x'], outputs: ['y'], attributes }],
      inputs: [],
      outputs: ['y'],
      initializers: new Map([['x', { elementType: from, dims, data: { kind: 'inline', bytes } }]]),
      types: new Map([['y', { elementType: to, dims }]]),
    },
  });
  return (await runModel(model))['y'] ?? [];
}

test('every float16 has the same value as in ONNX Runtime', async () => {
  assert.deepEqual(Array.from(ALL, fromFloat16Bits), await cast('float16', ALL, 'float32'));
});

test('a number becomes the same float16 as in ONNX Runtime: every float16, and numbers between two of them', async () => {
  const numbers: number[] = [];
  for (const bits of FINITE) {
    const low = fromFloat16Bits(bits);
    const gap = bits === 0x7bff ? 32 : fromFloat16Bits(bits + 1) - low;
    // The number itself, the midpoint to the next one, and numbers a little below and above the midpoint.
    for (const share of [0, 0.5, 0.5 - 2 ** -12, 0.5 + 2 ** -12]) numbers.push(low + gap * share, -low - gap * share);
  }
  const values = Float32Array.from([...numbers, Infinity, -Infinity, 1e30, 2 ** -40]);
  assert.deepEqual(Array.from(values, float16Bits), await cast('float32', values, 'float16'));
});

test('every float16 comes back from its number', () => {
  for (const bits of ALL) {
    const number = fromFloat16Bits(bits);
    if (Number.isNaN(number)) assert.ok(Number.isNaN(fromFloat16Bits(float16Bits(number))));
    else assert.equal(float16Bits(number), bits);
  }
});

test('the midpoint between two neighbours rounds to the even one', () => {
  for (const bits of FINITE.subarray(0, -1)) {
    const middle = (fromFloat16Bits(bits) + fromFloat16Bits(bits + 1)) / 2;
    assert.equal(float16Bits(middle), bits % 2 === 0 ? bits : bits + 1);
  }
});

test('a number that is too large becomes infinite, and NaN stays NaN', () => {
  assert.deepEqual([65519, 65520, Infinity, -Infinity].map(float16Bits), [0x7bff, 0x7c00, 0x7c00, 0xfc00]);
  assert.ok(Number.isNaN(fromFloat16Bits(float16Bits(NaN))));
});
