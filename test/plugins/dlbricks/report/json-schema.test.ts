import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { reportJsonSchema } from './json-schema.js';

/** The project's folder, seen from dist/test/plugins/dlbricks/report. */
const DOCUMENTED = new URL('../../../../../docs/report.schema.json', import.meta.url);

test('docs/report.schema.json is the schema in the code; `make schema` writes it', async () => {
  assert.deepEqual(JSON.parse(await readFile(DOCUMENTED, 'utf8')), JSON.parse(JSON.stringify(reportJsonSchema())));
});
