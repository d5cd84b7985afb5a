import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../support/property.js';
import { decodeTexts, encodeTexts, computeEnd } from '../../src/store/key-bytes.js';

/** Texts in which the bytes that are escaped are frequent. */
const lists = fc.array(fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a', 'é') }), { maxLength: 4 });

describe('a list of texts as bytes', () => {
  test('is read as it was', () => {
    fc.assert(fc.property(lists, (texts) => assert.deepEqual(decodeTexts(encodeTexts(texts)), texts)));
  });

  test('begins with the bytes of a list that it begins with, and lies before their end', () => {
    fc.assert(
      fc.property(lists, lists, (texts, more) => {
        const prefix = encodeTexts(texts);
        const whole = encodeTexts([...texts, ...more]);
        assert.ok(whole.subarray(0, prefix.length).equals(prefix));
        assert.ok(Buffer.compare(whole, computeEnd(prefix)) < 0);
      }),
    );
  });

  test('lies after the end of a list that it does not begin with, and that comes before it', () => {
    assert.ok(Buffer.compare(computeEnd(encodeTexts(['a'])), encodeTexts(['b'])) < 0);
    assert.ok(Buffer.compare(computeEnd(encodeTexts(['a'])), encodeTexts(['ab'])) < 0);
  });

  test('does not begin with the bytes of another list', () => {
    for (const [one, other] of [
      [['a'], ['ab']],
      [['\0'], ['', '']],
      [['\u0001'], ['\u0001\u0001']],
    ] as const) {
      const bytes = encodeTexts(one);
      assert.ok(!encodeTexts(other).subarray(0, bytes.length).equals(bytes));
    }
  });
});
