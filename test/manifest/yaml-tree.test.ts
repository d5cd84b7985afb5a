import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../support/property.js';
import { dump } from 'js-yaml';
import { nodeAt } from '../../src/manifest/document.js';
import { parseYaml, type YamlPath } from '../../src/manifest/yaml-tree.js';
import { toPlainData } from '../../src/manifest/validate.js';

function faultsOf(source: string): readonly string[] {
  return parseYaml(source).faults.map(({ offset, expected, found }) => `${offset}: ${expected}, ${found}`);
}

function startOf(source: string, path: YamlPath): number | undefined {
  const { root } = parseYaml(source);
  return root && nodeAt(root, path)?.start;
}

test('any plain data survives being written and read', () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
  }));
  fc.assert(
    fc.property(tree, fc.constantFrom(-1, 0, 2), (data, flowLevel) => {
      const { root, faults } = parseYaml(dump(data, { noRefs: true, flowLevel }));
      assert.deepEqual(faults, []);
      assert.ok(root);
      assert.equal(JSON.stringify(toPlainData(root, 'value')), JSON.stringify(data));
    }),
  );
});

test('every value knows where it starts', () => {
  const source = 'name: x\nlist:\n  - "quoted"\n  - {a: [1, 2]}\ncode: |- # a | b\n  x\nempty:\n';
  assert.equal(startOf(source, ['name']), source.indexOf('x'));
  assert.equal(startOf(source, ['list']), source.indexOf('- "quoted"'));
  assert.equal(startOf(source, ['list', 0]), source.indexOf('"quoted"'));
  assert.equal(startOf(source, ['list', 1, 'a', 1]), source.indexOf('2]'));
  assert.equal(startOf(source, ['code']), source.indexOf('|-'));
  assert.equal(startOf('code: |\n  x\n', ['code']), 6, 'also in the first line');
  assert.equal(startOf(source, ['empty']), source.indexOf('empty'), 'an empty value is where its key is');
});

test('a scalar can be read as the text that it is', () => {
  const { root } = parseYaml('version: 1.10');
  assert.ok(root);
  assert.deepEqual(toPlainData(root, 'text'), { version: '1.10' });
  assert.deepEqual(toPlainData(root, 'value'), { version: 1.1 });
});

test('the key __proto__ is a key like any other', () => {
  const { root } = parseYaml('__proto__: {admin: true}');
  assert.ok(root);
  const data = toPlainData(root, 'value') as object;
  assert.deepEqual(Object.keys(data), ['__proto__']);
  assert.equal('admin' in data, false);
});

test('an alias is refused where it stands', () => {
  assert.deepEqual(faultsOf('a: &x 1\nb: *x'), ['11: a value written out, the alias "*x"']);
});

test('a value that holds itself is refused', () => {
  assert.deepEqual(faultsOf('a: &x [*x]'), ['7: a value written out, the alias "*x"']);
});

test('every tag is refused', () => {
  assert.deepEqual(faultsOf('a: !!js/function x'), ['3: a value without a tag, the tag "!!js/function"']);
});

test('a repeated key is a fault, and the tree has what the original platform reads', () => {
  assert.deepEqual(faultsOf('a: 1\nb: 2\na: 3'), ['10: every key once, "a" again']);
  const { root, faults } = parseYaml(
    'a: 1\nm: {x: 1, y: {p: 1, q: [1, 2]}}\nl: [1, 2]\na: 2\nm: {y: {q: [3]}, z: 4}\nl: [5]',
  );
  assert.ok(root !== undefined && faults.every(({ isRepeatedKey }) => isRepeatedKey === true));
  assert.deepEqual(toPlainData(root, 'value'), { a: 2, m: { x: 1, y: { p: 1, q: [3] }, z: 4 }, l: [5] });
});

test('a key that is no text is refused', () => {
  assert.deepEqual(faultsOf('? [a]\n: 1'), ['2: a text as key, a sequence']);
});

test('a second document is refused', () => {
  assert.deepEqual(faultsOf('a: 1\n---\nb: 2'), ['9: one document in the file, 2 documents']);
});

test('all faults are found in one go', () => {
  assert.equal(faultsOf('a: *x\nb: !t 1\nb: 2\n').length, 3);
});

test('an empty file is refused', () => {
  assert.deepEqual(faultsOf('# nothing but this\n'), ['0: a mapping, an empty file']);
});

test('a value at the start of a document, and one with a tag there, are where they stand', () => {
  assert.equal(startOf('text', []), 0);
  assert.deepEqual(faultsOf('!t a'), ['0: a value without a tag, the tag "!t"']);
});

test('a fault inside of a mapping has the path of its key', () => {
  const [fault] = parseYaml('a:\n  b: *x\n').faults;
  assert.deepEqual(fault?.path, ['a', 'b']);
});

test('a syntax error is where it is, and too many values are where the first one too many is', () => {
  const [syntax] = parseYaml('a: 1\nb: [\n').faults;
  assert.match(syntax?.found ?? '', /^a syntax error: /);
  assert.ok((syntax?.offset ?? 0) > 0);
  const [many] = parseYaml(`[${'a,'.repeat(20_000)}]`).faults;
  assert.equal(many?.expected, 'at most 10000 keys and values');
  // The list itself is a value as well, and the document an event.
  assert.ok((many?.offset ?? 0) > 19_990 && (many?.offset ?? 0) < 20_010, String(many?.offset));
  // The list and the document are two events each, the texts one.
  assert.deepEqual(parseYaml('[a, b]', 6).faults, []);
  assert.equal(parseYaml('[a, b]', 5).faults[0]?.expected, 'at most 5 keys and values');
});
