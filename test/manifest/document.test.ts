import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { checkedYamlFile } from '../../src/manifest/validate.js';
import { describe as described, formatPath, parseDocument } from '../../src/manifest/document.js';
import { orThrow } from '../../src/manifest/problem.js';

test('a path has plain keys after dots, and other keys in quotes', () => {
  const plain = 'a'.repeat(60);
  assert.equal(formatPath([]), 'document');
  assert.equal(formatPath(['models', 0, 'name']), 'models[0].name');
  assert.equal(formatPath(['a', plain]), `a.${plain}`);
  assert.equal(formatPath(['a', `${plain}a`]), `a["${plain}a"]`);
  assert.equal(formatPath(['a', 'b c', 'd']), 'a["b c"].d');
});

test('a value is described by its kind, and a scalar by its value', () => {
  const found = (yaml: string): string => described(orThrow(parseDocument('m.yml', Buffer.from(yaml))).root);
  const cases: readonly [yaml: string, found: string][] = [
    ['{}', 'an empty mapping'],
    ['{a: 1}', 'a mapping'],
    ['[]', 'an empty list'],
    ['[1, 2]', 'a list of 2'],
    ['~', 'an empty value'],
    ['text', '"text"'],
    ['1.50', 'the number 1.50'],
    ['true', 'the boolean true'],
    ['*x', 'a construct that manifests must not use'],
  ];
  for (const [yaml, expected] of cases) assert.equal(found(yaml), expected, yaml);
  assert.equal(described(undefined), 'nothing');
});

test('a byte that is not valid UTF-8 is named with its offset', () => {
  for (const [byte, text] of [
    [0x80, '0x80'],
    [0xff, '0xff'],
  ] as const) {
    const parsed = parseDocument('m.yml', Buffer.from([0x61, byte]));
    assert.match(parsed.ok ? '' : (parsed.problems[0]?.found ?? ''), new RegExp(`^the byte ${text} at offset 1`));
  }
});

test('another YAML file is checked against its schema, with values and places', () => {
  const schema = z.strictObject({ count: z.number(), name: z.string().nullable() });
  const { data } = checkedYamlFile('access.yml', Buffer.from('count: 2\nname:\n'), schema);
  assert.deepEqual(data, { count: 2, name: null });
  const wrong = Buffer.from('count: many\nname:\n');
  assert.throws(
    () => checkedYamlFile('access.yml', wrong, schema),
    /^PlatformError: access\.yml:1:8: count: expected a number/,
  );
});
