import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../support/property.js';
import { ELEMENTS, type JsonPath, JsonPicker } from '../../src/foreign-traces/json-picker.js';

interface Picked {
  readonly path: number;
  readonly value: unknown;
  readonly offset: number;
}

function pick(text: string, paths: readonly JsonPath[], chunkBytes = 7, mayBeCut = false): Picked[] {
  const picked: Picked[] = [];
  const picker = new JsonPicker('f.json', paths, (path, value, offset) => picked.push({ path, value, offset }), {
    mayBeCut,
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) picker.write(bytes.subarray(at, at + chunkBytes));
  picker.end();
  return picked;
}

const valuesOf = (picked: readonly Picked[]): unknown[] => picked.map(({ value }) => value);

describe('picking values out of a JSON text', () => {
  test('values without a path to them are skipped', () => {
    const text =
      '{"a": [1, {"b": "}]"}], "data": [{"x": {"spans": [9]}, "spans": [{"n": 1}, {"n": "\\"]"}]}], "z": null}';
    assert.deepEqual(valuesOf(pick(text, [['data', ELEMENTS, 'spans', ELEMENTS]])), [{ n: 1 }, { n: '"]' }]);
  });

  test('all values come out unchanged, for any size of the pieces of the text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(2),
        (values, chunkBytes, indent) => {
          const text = JSON.stringify({ skipped: values, wanted: values }, null, indent);
          assert.deepEqual(
            valuesOf(pick(text, [['wanted', ELEMENTS]], chunkBytes)),
            JSON.parse(JSON.stringify(values)),
          );
        },
      ),
    );
  });

  test('a large value in many pieces is copied a few times, and not with each piece', (t) => {
    const text = JSON.stringify(['x'.repeat(2 ** 20)]);
    const { mock: copies } = t.mock.method(Buffer, 'allocUnsafe');
    assert.deepEqual(valuesOf(pick(text, [[ELEMENTS]], 1024)), JSON.parse(text));
    const bytes = copies.calls.reduce((sum, call) => sum + call.arguments[0], 0);
    // Each copy has room for twice as much as the one before.
    assert.ok(copies.callCount() > 0 && bytes < 4 * text.length, `${bytes} bytes for ${text.length}`);
  });

  test('texts may follow one another', () => {
    assert.deepEqual(valuesOf(pick('{"a": 1}\n{"a": 2}\n', [['a']])), [1, 2]);
  });

  test('a text may begin with a byte order mark, and a number may end with the file', () => {
    assert.deepEqual(pick('\ufeff{"a": 1} 25', [[]], 9), [
      { path: 0, value: { a: 1 }, offset: 3 },
      { path: 0, value: 25, offset: 12 },
    ]);
  });

  test('keys may have escaped characters, also at the end of a piece', () => {
    const text = String.raw`{"\"": 1, "a\"": {"b\\": 2}, "\u0061\"": 3}`;
    for (let chunkBytes = 1; chunkBytes < text.length; chunkBytes++) {
      assert.deepEqual(valuesOf(pick(text, [['a"', 'b\\'], ['"']], chunkBytes)), [1, 2], `${chunkBytes}`);
    }
  });

  test('an offset is where a value begins', () => {
    const text = '[ {"ä": 1},\n {"b": 2} ]';
    const [, second] = pick(text, [[ELEMENTS]]);
    assert.equal(Buffer.from(text).subarray(second?.offset).toString(), '{"b": 2} ]');
  });
});

describe('a text that is not JSON', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['an end in the middle of a value', '[{"a": 1}, {"a"', /f\.json: byte 15: the file ends in the middle/],
    ['an end in the middle of a string', '["abc', /the file ends in the middle/],
    ['a text without its last bracket', '{"wanted": [1]', /the file ends in the middle/],
    ['nothing', '  ', /the file is empty/],
    ['a stray bracket', '[1}', /byte 2: not JSON/],
    ['a bracket at the beginning', '}', /byte 0: not JSON/],
    ['two commas', '[1,,2]', /byte 3: not JSON/],
    ['a key without a value', '{"wanted":}', /not JSON/],
    ['a key that is no text', '{wanted: [1]}', /byte 1: not JSON: expected a key or end, found "w"/],
    ['a comma before the end', '{"wanted": [1],}', /byte 15: not JSON: expected a key, found "}"/],
    ['a key without a colon', '{"wanted" [1]}', /byte 10: not JSON: expected a colon, found "\["/],
    ['values without a comma', '{"wanted": [1 2]}', /byte 14: not JSON: expected a comma or end, found "2"/],
    ['an endless key', `{"${'x'.repeat(2 ** 17)}`, /byte 1: this key is too long/],
    ['words', '[NaN]', /byte 1: not JSON/],
    ['a million brackets', '['.repeat(1_000_000), /nested deeper than 64 levels/],
    ['a million brackets in a skipped value', `{"x": ${'['.repeat(1_000_000)}`, /nested deeper than 64 levels/],
    ['a huge string', `["${'x'.repeat(17 * 2 ** 20)}"]`, /byte 1: a single value of more than 16777216 bytes/],
  ];
  for (const [what, text, message] of cases) {
    test(what, () => {
      assert.throws(() => pick(text, [[ELEMENTS], ['wanted', ELEMENTS]], 2 ** 20), message);
    });
  }

  test('an array may lack its end where the producer may have crashed', () => {
    assert.deepEqual(valuesOf(pick('[1,\n2,\n', [[ELEMENTS]], 3, true)), [1, 2]);
    assert.throws(() => pick('[1,\n{"a":', [[ELEMENTS]], 3, true), /the file ends in the middle/);
  });
});
