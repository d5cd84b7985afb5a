import assert from 'node:assert/strict';
import fc from '../support/property.js';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isJson } from '../../src/base/is-json.js';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Pieces of JSON, and some pieces that are no part of JSON. */
const PIECES = ['{', '}', '[', ']', ',', ':', '"a"', '"\\n"', '"\\u00e9"', '"\\x"', '"', '\\', '0', '01', '-', '-1.5e+3', '1.', 'NaN', 'true', 'nul', ' ', '\n', '\u0001', 'é']; // prettier-ignore

describe('isJson', () => {
  test('agrees with JSON.parse on values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        assert.equal(await isJson(text), true);
        assert.equal(await isJson(JSON.stringify(JSON.parse(text), null, 2)), true);
      }),
    );
  });

  test('agrees with JSON.parse on texts that are made of pieces', async () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => assert.equal(await isJson(text), parses(text), text)),
      { numRuns: 5000 },
    );
  });

  for (const text of ['', '{', 'NaN', '[1,]', '{"a":1,}', '{"a" 1}', '1 2', '[]]', '"\t"', '{}x', '[1}']) {
    test(`refuses ${JSON.stringify(text)}`, async () => assert.equal(await isJson(text), false));
  }

  test('refuses a text that is nested too deep to be written again', async () => {
    assert.equal(await isJson('['.repeat(500) + ']'.repeat(500)), true);
    assert.equal(await isJson('['.repeat(501) + ']'.repeat(501)), false);
    assert.equal(await isJson('['.repeat(6_000_000)), false);
  });

  test('lets other work run meanwhile', async () => {
    let turns = 0;
    let isDone = false;
    const checked = isJson(`[${'[],'.repeat(1_000_000)}0]`).finally(() => (isDone = true));
    while (!isDone) {
      await setImmediate();
      turns++;
    }
    assert.equal(await checked, true);
    assert.ok(turns >= 30, `${turns} turns in 3 million characters`);
  });
});
