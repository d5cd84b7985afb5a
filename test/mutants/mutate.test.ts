import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applied, changesIn } from '../../mutants/mutate.js';

/** A module, and all defects that are planted in it. */
const CASES: readonly [name: string, module: string, mutants: readonly string[]][] = [
  ['a bound moves', 'f(a < b);', [';', 'f(a <= b);']],
  ['arithmetic is inverted', 'f(a + b);', [';', 'f(a - b);']],
  ['texts stay joined', "f('an ' + b);", [';']],
  ['a fallback is left out', 'f(a.b ?? c);', [';', 'f(a.b);']],
  ['a fallback that only the compiler needs stays', 'f(a[i] ?? 0, b[i] ?? -1);', [';']],
  ['a negation is left out', 'f(!a);', [';', 'f(a);']],
  ['a count runs in the other direction', 'f(a++, --b);', [';', 'f(a--, --b);', 'f(a++, ++b);']],
  ['a branch is always or never taken', 'if (a) { }', ['if (true) { }', 'if (false) { }']],
  ['a choice is always the same', 'f(a ? b : c);', [';', 'f(true ? b : c);', 'f(false ? b : c);']],
  ['a loop does not run', 'while (a) { }', ['while (false) { }']],
  ['an integer changes by one', 'f(5);', [';', 'f(6);', 'f(4);']],
  ['a large integer is doubled', 'f(4096);', [';', 'f(8192);']],
  ['a fraction is doubled', 'f(0.2);', [';', 'f(0.4);']],
  ['a time stays', "f({ 'grpc.keepalive_ms': 5 });", [';', 'f({  });']],
  [
    'a time of several numbers stays',
    'const DAY_MS = 24 * (3600 * 1e3);',
    ['const DAY_MS = 24 / (3600 * 1e3);', 'const DAY_MS = 24 * (3600 / 1e3);'],
  ],
  ['a boolean is inverted', 'f(true);', [';', 'f(false);']],
  ['a key is empty', "f('key');", [';', "f('');"]],
  ['a text for readers stays', "f('a text');", [';']],
  ['a key lacks a part', 'f(`${a}/${b}`);', [';', "f(`${''}/${b}`);", "f(`${a}/${''}`);"]],
  ['a pattern lacks an anchor', 'f(/^a$/);', [';', 'f(/a$/);', 'f(/^a/);']],
  ['a pattern lacks a flag', 'f(/a/i);', [';', 'f(/a/);']],
  ['an upper bound in a pattern grows', 'f(/a{1,3}/);', [';', 'f(/a{1,4}/);']],
  ['a call is left out of a chain', 'f(a.sort());', [';', 'f(a);']],
  ['a call is replaced by its opposite', 'f(a.some(b));', [';', 'f(a.every(b));']],
  ['a statement is left out', 'throw a;', [';']],
  ['a list lacks an element', 'f([a, b]);', [';', 'f([ b]);', 'f([a, ]);']],
  ['an object lacks a property', 'f({ a, b });', [';', 'f({  b });', 'f({ a,  });']],
  ['imports stay', "import { a } from 'b';", []],
];

for (const [name, module, mutants] of CASES) {
  test(name, () => {
    const planted = changesIn(module).map((change) => applied(module, change));
    assert.deepEqual([...planted].sort(), [...mutants].sort());
  });
}

test('defects are in the order of their places', () => {
  const starts = changesIn('f(a < b);\ng(!c, 5);\n').map(({ start }) => start);
  assert.deepEqual(
    starts,
    [...starts].sort((a, b) => a - b),
  );
});
