import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { assumedInputs, assumedSentence } from '../../../src/onnx/values/assumed-values.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { parseGivenText, withGivenValues } from '../../../src/onnx/values/given-values.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { int, model, node, value } from '../protos.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

const lookup = parseModel(
  model({
    input: [value('table', [10, 4]), value('ids', [2, 3], 'int64'), value('mask', [3], 'bool')],
    node: [node('Gather', ['table', 'ids'], ['found']), node('Where', ['mask', 'ids', 'ids'], ['chosen'])],
    output: [value('found'), value('chosen', undefined, 'int64')],
  }),
  'lookup',
);

const given = async (name: string, text: string) => {
  const read = parseGivenText(text);
  assert.ok(read !== undefined, `${text} is no value`);
  return (await withGivenValues(lookup, new Map([[name, read]]))).graph.given?.get(name);
};

const refused = (name: string, text: string, message: RegExp) => assertRefused(given(name, text), 'usage', message);

/** Writes an array file in the format of numpy.save: version 1.0 of numpy.lib.format. */
function npy(name: string, type: string, shape: string, data: Uint8Array): string {
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape}), }`.padEnd(117) + '\n';
  const start = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]);
  const path = join(folder, `${name}.npy`);
  writeFileSync(path, Buffer.concat([start, Buffer.from(header), data]));
  return path;
}

const SIX = new Uint8Array(BigInt64Array.of(3n, 1n, 4n, 1n, 5n, 9n).buffer);

describe('values that a user writes', () => {
  test('are a number for all elements, one for each, a range, or truth values', async () => {
    assert.deepEqual(await given('ids', '7'), { low: 7, high: 7 });
    assert.deepEqual(await given('ids', '3,1,4,1,5,9'), { low: 1, high: 9, list: [3, 1, 4, 1, 5, 9] });
    assert.deepEqual(await given('ids', '[3, 1, 4, 1, 5, 9]'), { low: 1, high: 9, list: [3, 1, 4, 1, 5, 9] });
    assert.deepEqual(await given('ids', '0..9'), { low: 0, high: 9 });
    assert.deepEqual(await given('table', '-1.5..2e3'), { low: -1.5, high: 2000 });
    assert.deepEqual(await given('mask', 'true, false,true'), { low: 0, high: 1, list: [1, 0, 1] });
  });

  test("are in a NumPy array's file", async () => {
    assert.deepEqual(await given('ids', npy('ids', '<i8', '2, 3', SIX)), { low: 1, high: 9, list: [3, 1, 4, 1, 5, 9] });
  });

  test('are refused if they are not valid', () => {
    for (const text of ['', 'seven', '1,,2', '9..0', '1..', '..', 'NaN', '1,2;rm']) {
      assert.equal(parseGivenText(text), undefined, text);
    }
  });

  test('are refused if they do not fit the input, and the message gives the reason', async () => {
    await refused('ids', '1,2', /6 elements \(\[2, 3\]\), and 2 values were given/);
    await refused('ids', '1.5', /whole numbers \(int64\)/);
    await refused('mask', '2', /bool is from 0 to 1/);
    await refused('ids', npy('turned', '<i8', '3, 2', SIX), /it is int64 \[2, 3\], and the file has int64 \[3, 2\]/);
    await refused('ids', npy('floats', '<f8', '2, 3', SIX), /the file has float64/);
  });

  test('are refused if the file is too large, is no array, or is missing', async () => {
    await refused('ids', join(folder, 'missing.npy'), /cannot be read/);
    await refused('ids', npy('cut', '<i8', '2, 3', SIX.slice(8)), /it is not a readable array of numbers/);
    await refused('ids', npy('objects', '|O', '2, 3', SIX), /it is not a readable array of numbers/);
    await refused('ids', npy('long', '|u1', '1048577', new Uint8Array(1_048_577)), /it has 1048577 numbers/);
    await refused('ids', npy('large', '|u1', '9000000', new Uint8Array(9_000_000)), /a file of \d+ bytes/);
  });
});

const sentence = (given: Model): string | undefined => assumedSentence(assumedInputs(given));

describe('the sentence about assumed values of a model', () => {
  test('names masks and indices, but not inputs that may have any values', () => {
    assert.equal(
      sentence(lookup),
      'the values of inputs are assumed: "ids" 0 to 9, "mask" true; give others with --input ids=VALUE, or `values` in the model\'s manifest',
    );
  });

  test('does not name inputs with given values', async () => {
    const values = parseGivenText('5');
    assert.ok(values !== undefined);
    const told = sentence(await withGivenValues(lookup, new Map([['ids', values]])));
    assert.equal(
      told,
      'the values of inputs are assumed: "mask" true; give others with --input mask=VALUE, or `values` in the model\'s manifest',
    );
  });

  test('names a mask of numbers that is added before a Softmax', () => {
    const masked = model({
      input: [value('x', [4]), value('mask', [4])],
      node: [
        node('Neg', ['x'], ['scores']),
        node('Add', ['scores', 'mask'], ['sum']),
        node('Softmax', ['sum'], ['shares']),
        node('Add', ['shares', 'x'], ['y']),
      ],
      output: [value('y')],
    });
    assert.match(sentence(parseModel(masked, 'masked')) ?? '', /^the values of inputs are assumed: "mask" -1 to 1; /);
  });

  test('is absent for a model whose inputs may have any values', () => {
    const sum = model({
      input: [value('x', [4])],
      node: [node('Relu', ['x'], ['y'], [int('ignored', 1)])],
      output: [value('y')],
    });
    assert.equal(sentence(parseModel(sum, 'sum')), undefined);
  });
});
