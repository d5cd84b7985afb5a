import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { systemSchema } from '../../src/measurement/system.js';
import { measurementDocumentSchema } from '../../src/store/measurement-document.js';

const PAGE = new URL('../../../docs/storage.md', import.meta.url);

describe('the examples of docs/storage.md', () => {
  const [measurement = '', system = ''] = [...readFileSync(PAGE, 'utf8').matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, json = '']) => json,
  );

  test('are a measurement and its system, as a store accepts them', () => {
    const { system: id } = measurementDocumentSchema.parse(JSON.parse(measurement));
    const { fingerprint } = systemSchema.parse(JSON.parse(system));
    assert.equal(id.split('.')[0], fingerprint);
  });
});
