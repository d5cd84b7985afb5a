import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { shellQuoted } from '../../src/base/shell-quoted.js';

test('a shell takes a quoted text as one word, with any characters in it', () => {
  const texts = ['T=SIZE', 'past + 1=SIZE', "it's", '$HOME', '`date`', 'a"b', '\\', '*', 'ü;rm'];
  const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${texts.map(shellQuoted).join(' ')}`], {
    encoding: 'utf8',
  });
  assert.deepEqual(printed.trimEnd().split('\n'), texts);
});

test('a text that needs no quotes has none', () => assert.equal(shellQuoted('sequence=SIZE'), 'sequence=SIZE'));
