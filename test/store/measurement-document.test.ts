import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  measurementDocumentSchema,
  readMeasurement,
  readSystem,
  systemId,
  toDocuments,
} from '../../src/store/measurement-document.js';
import { sampleMeasurement, SYSTEM } from './sample-measurement.js';

const MEASUREMENT = sampleMeasurement(1);

test('a stored measurement refers to its system', () => {
  const { document, system } = toDocuments(MEASUREMENT);
  assert.deepEqual(system, SYSTEM);
  assert.equal(document.system, systemId(system));
  assert.match(document.system, new RegExp(`^${SYSTEM.fingerprint}\\.[0-9a-f]{16}$`));
  const read = readMeasurement(JSON.stringify(document), (id) =>
    readSystem(id === document.system ? JSON.stringify(SYSTEM) : undefined),
  );
  assert.deepEqual(read, { ok: true, value: MEASUREMENT });
});

test('a system that is described differently in anything has another id', () => {
  assert.notEqual(systemId({ ...SYSTEM, memoryBytes: SYSTEM.memoryBytes + 1 }), systemId(SYSTEM));
});

test('a document with another reference, or without its system, is not read', () => {
  const { document } = toDocuments(MEASUREMENT);
  for (const system of ['', SYSTEM.fingerprint, `${document.system}0`, document.system.toUpperCase()]) {
    assert.equal(measurementDocumentSchema.safeParse({ ...document, system }).success, false, system);
  }
  const read = readMeasurement(JSON.stringify(document), () => readSystem(undefined));
  assert.deepEqual(read, { ok: false, problem: 'its system is missing' });
});
