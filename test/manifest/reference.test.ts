import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  besideManifest,
  isManifestPath,
  isUrl,
  parseModelReference,
  parseZooName,
} from '../../src/manifest/reference.js';

describe('a reference to a model', () => {
  test('is a manifest, an ONNX file or an architecture of the zoo', () => {
    assert.deepEqual(parseModelReference('a/m.yml'), { kind: 'manifest', path: 'a/m.yml' });
    assert.deepEqual(parseModelReference('m.YAML'), { kind: 'manifest', path: 'm.YAML' });
    assert.deepEqual(parseModelReference('net.ONNX'), { kind: 'onnx', path: 'net.ONNX' });
    assert.deepEqual(parseModelReference('zoo:net-1.0'), { kind: 'zoo', name: 'net-1.0' });
  });

  test('is no address, no name that the zoo cannot have, and no other file', () => {
    const others = [
      'https://example.org/net.onnx',
      'http://example.org/m.yml',
      'zoo:',
      'zoo:Net.onnx',
      'zoo:/m.yml',
      'net.pt',
    ];
    for (const text of [...others, '']) assert.equal(parseModelReference(text), undefined, text);
  });

  test('of the zoo has a name of 100 characters at most', () => {
    assert.equal(parseZooName(`zoo:${'a'.repeat(100)}`), 'a'.repeat(100));
    assert.equal(parseZooName(`zoo:${'a'.repeat(101)}`), undefined);
    assert.equal(parseZooName('azoo:a'), undefined);
  });
});

test('an address begins with its scheme', () => {
  for (const text of ['http://a', 'HTTPS://a', 'git+ssh://a']) assert.ok(isUrl(text), text);
  for (const text of ['a b://c', '1a://b', '//a', 'a:/b', 'a/http://b']) assert.ok(!isUrl(text), text);
  assert.ok(!isManifestPath('https://example.org/m.yml'));
  assert.ok(!isManifestPath('m.yml.txt'));
});

test('a path of a manifest is seen from the folder of the manifest', () => {
  assert.equal(besideManifest('a/m.yml', 'net.onnx'), 'a/net.onnx');
  assert.equal(besideManifest('a/m.yml', '../net.onnx'), 'net.onnx');
  assert.equal(besideManifest('a/m.yml', '/net.onnx'), '/net.onnx');
});
