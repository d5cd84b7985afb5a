import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { runOnce } from '../../../src/agent/jobs/run-once.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { relu, runOptions } from '../support/tiny-benchmarks.js';

test('one run describes its outputs: a checksum, the norm of finite elements, the first ones and some of all', async () => {
  const numbers = Float32Array.of(3, NaN, 4, Infinity, 0, 0, 0, 0, 0, 0);
  const bytes = new Uint8Array(numbers.buffer);
  const evaluate = () =>
    Promise.resolve(
      new Map([
        ['y', { elementType: 'float32' as const, dims: [2, 5], bytes }],
        ['dlbricks.returned.half', { elementType: 'float32' as const, dims: [], bytes: new Uint8Array(4) }],
        ['dlbricks.shape.int4.narrow', { elementType: 'int64' as const, dims: [1], bytes: new Uint8Array(8) }],
        ['packed', { elementType: 'uint4' as const, dims: [2], bytes: new Uint8Array(1) }],
        ['text', { elementType: 'string' as const, dims: [1], bytes: new Uint8Array() }],
      ]),
    );
  const context = fakeContext({ predictor: fakePredictor({ evaluate }) });
  const request = { kind: 'run-once', benchmark: relu, runOptions, memoryLimitBytes: 1e9, everyValue: false } as const;
  const of = async (elements: number) => {
    const values = await runOnce({ ...request, elements }, context);
    assert.deepEqual([...values.keys()], ['y', 'half'], 'no text, no shape, and no packed type');
    return [...values].slice(0, 1);
  };
  const expected = {
    elementType: 'float32',
    dims: [2, 5],
    sha256: createHash('sha256').update(bytes).digest('hex'),
    norm: 5,
    notFinite: 2,
    first: [...numbers.subarray(0, 8)],
  };
  assert.deepEqual(await of(4), [['y', { ...expected, elements: [3, Infinity, 0, 0], stride: 3 }]]);
  assert.deepEqual(await of(10), [['y', { ...expected, elements: [...numbers], stride: 1 }]]);
  assert.deepEqual(await of(0), [['y', { ...expected, elements: [], stride: 1 }]]);
});

test('a value without elements is described as well', async () => {
  const empty = { elementType: 'float32' as const, dims: [0], bytes: new Uint8Array() };
  const context = fakeContext({
    predictor: fakePredictor({ evaluate: () => Promise.resolve(new Map([['y', empty]])) }),
  });
  const request = { kind: 'run-once', benchmark: relu, runOptions, memoryLimitBytes: 1e9, everyValue: false } as const;
  const value = (await runOnce({ ...request, elements: 4 }, context)).get('y');
  assert.deepEqual([value?.stride, value?.elements, value?.first, value?.norm], [1, [], [], 0]);
});

test('an answer has at most 65,536 elements of a value, and two million of all, from all over each value', async () => {
  const valuesOf = async (values: number, elements: number) => {
    const bytes = new Uint8Array(Float32Array.from({ length: elements }, (_, i) => i).buffer);
    const value = { elementType: 'float32' as const, dims: [elements], bytes };
    const outputs = new Map(Array.from({ length: values }, (_, index) => [`y${index}`, value]));
    const context = fakeContext({ predictor: fakePredictor({ evaluate: () => Promise.resolve(outputs) }) });
    const request = {
      kind: 'run-once',
      benchmark: relu,
      runOptions,
      memoryLimitBytes: 1e9,
      everyValue: false,
    } as const;
    return [...(await runOnce({ ...request, elements: 1e6 }, context)).values()];
  };
  const [one] = await valuesOf(1, 200_000);
  assert.deepEqual([one?.stride, one?.elements.length, one?.elements.at(-1)], [4, 50_000, 199_996]);
  const many = await valuesOf(64, 40_000);
  // 2 ** 21 / 64 = 32,768 elements of each.
  assert.ok(many.every(({ stride, elements }) => stride === 2 && elements.length === 20_000));
});

test('a graph that cannot be opened and a run that fails are told apart, and the session is closed', async () => {
  let closed = 0;
  const request = { kind: 'run-once', benchmark: relu, runOptions, memoryLimitBytes: 1e9, everyValue: false } as const;
  const fake = fakePredictor({ evaluate: () => Promise.reject(new Error('node relu failed')) });
  const predictor: typeof fake = {
    ...fake,
    open: async (...given) => ({ ...(await fake.open(...given)), close: () => Promise.resolve(void closed++) }),
  };
  const failing = runOnce({ ...request, elements: 1 }, fakeContext({ predictor }));
  await assert.rejects(failing, { code: 'model', message: /node relu failed/ });
  assert.equal(closed, 1);
  const refusing = { ...fake, open: () => Promise.reject(new Error('no such operator')) };
  const refused = runOnce({ ...request, elements: 1 }, fakeContext({ predictor: refusing }));
  await assert.rejects(refused, { code: 'unsupported', message: /no such operator/ });
});
