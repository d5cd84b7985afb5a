import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fetchedPath, mirrorPath, pathWithin } from '../../src/manifest/fetched-files.js';

describe('the path of an address', () => {
  test('is its host and path, as wget has it', () => {
    assert.equal(mirrorPath('https://example.org/a/net.onnx'), 'example.org/a/net.onnx');
    assert.equal(mirrorPath('https://example.org:8443//a//net.onnx?raw=1#part'), 'example.org_8443/a/net.onnx_raw=1');
    assert.equal(mirrorPath('http://example.org'), 'example.org/index');
    assert.equal(mirrorPath('http://example.org/?v=2'), 'example.org/index_v=2');
    assert.equal(fetchedPath('http://example.org/net.onnx'), 'fetched/example.org/net.onnx');
  });

  test('is a plain name where it is no URL', () => {
    assert.equal(mirrorPath('net.onnx'), undefined);
    assert.equal(fetchedPath('http://[fe80::1%25lo]/net.onnx'), 'fetched/http____fe80__1%25lo__net.onnx');
  });

  test('has names that each file system takes, and that differ where long names differ at their ends', () => {
    const nameOf = (name: string): string => mirrorPath(`http://h/${name}`)?.slice('h/'.length) ?? '';
    const fitting = 'a'.repeat(120);
    assert.equal(nameOf(fitting), fitting);
    const longer = nameOf(`${fitting}b`);
    assert.match(longer, /^a{103}-[0-9a-f]{16}$/);
    assert.notEqual(nameOf(`${fitting}c`), longer);
    assert.equal(nameOf('a*b:c|d"e.onnx'), 'a_b_c_d%22e.onnx');
  });
});

describe('a path within a folder', () => {
  test('is the shortest that leads there', () => {
    const cases: readonly [string, string][] = [
      ['net.onnx', 'net.onnx'],
      ['./export/net.onnx', 'export/net.onnx'],
      ['a//b/', 'a/b'],
      ['a/../b', 'b'],
      ['..a/b', '..a/b'],
    ];
    for (const [path, within] of cases) assert.equal(pathWithin(path), within, path);
  });

  test('is undefined where it leads out, or may do so on some system', () => {
    for (const path of [
      '',
      '.',
      './',
      '..',
      '../a',
      'a/../..',
      '/etc/passwd',
      'C:a',
      'c:/a',
      '\\a',
      'a\\..\\b',
      'a\0b',
    ]) {
      assert.equal(pathWithin(path), undefined, JSON.stringify(path));
    }
  });
});
