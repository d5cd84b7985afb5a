import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const FAILING = `
  import fc from ${JSON.stringify(new URL('property.js', import.meta.url).href)};
  fc.assert(fc.property(fc.integer(), (number) => number % 7 !== 3));`;

function failure(seed: string): string {
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', FAILING], {
    env: { ...process.env, PROPERTY_SEED: seed },
    encoding: 'utf8',
  });
  return stderr;
}

test('a property that fails names its seed, and fails in the same way with it', () => {
  const first = failure('-5');
  assert.match(first, /Counterexample: \[-?\d+\][^]*Again: PROPERTY_SEED=-5 node --test/);
  assert.equal(/Counterexample.*/.exec(failure('-5'))?.[0], /Counterexample.*/.exec(first)?.[0]);
});
