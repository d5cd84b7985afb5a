import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockText, parseLock, type Pin } from '../../src/manifest/lock-file.js';

const PIN: Pin = { url: 'https://example.org/net.onnx', sha256: 'ab'.repeat(32), bytes: 0 };

function parsed(pin: object, version = 1): ReturnType<typeof parseLock> {
  return parseLock(Buffer.from(JSON.stringify({ version, files: { 'net.onnx': pin } })));
}

test('a lock file is written in the order of its paths, and read back', () => {
  const files = new Map([
    ['b', PIN],
    ['a', PIN],
  ]);
  const text = lockText({ files, manifests: new Map() });
  assert.ok(text.indexOf('"a"') < text.indexOf('"b"'));
  assert.ok(text.endsWith('}\n'));
  assert.deepEqual(parseLock(Buffer.from(text))?.files.get('b'), PIN);
});

test('a file that is no lock file is not read as one', () => {
  assert.deepEqual(parsed(PIN)?.files.get('net.onnx'), PIN);
  assert.equal(parseLock(Buffer.from('{')), undefined);
  assert.equal(parsed(PIN, 2), undefined);
  assert.equal(parsed({ ...PIN, bytes: -1 }), undefined);
  assert.equal(parsed({ ...PIN, bytes: 0.5 }), undefined);
  for (const sha256 of ['ab'.repeat(31), `${PIN.sha256}a`, PIN.sha256.toUpperCase()]) {
    assert.equal(parsed({ ...PIN, sha256 }), undefined, sha256);
  }
});
