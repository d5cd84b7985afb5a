import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { SCHEMAS_FOLDER } from './published.js';

const DOCS = join(SCHEMAS_FOLDER, '../docs');

/** Compiled, which takes as long as a hundred validations. */
const VALIDATORS = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction {
  const folder = name === 'report' ? DOCS : SCHEMAS_FOLDER;
  const schema = JSON.parse(readFileSync(join(folder, `${name}.schema.json`), 'utf8')) as object;
  // The formats of dates are annotations only.
  return new Ajv2020({ allErrors: true, validateFormats: false, strictTypes: false }).compile(schema);
}

/** Fails with every problem if a document does not match the published schema `NAME.schema.json`. */
export function assertOfSchema(name: string, document: unknown): void {
  const validate = VALIDATORS.get(name) ?? validatorOf(name);
  VALIDATORS.set(name, validate);
  assert.ok(validate(document), `${name}: ${JSON.stringify(validate.errors, null, 1)}`);
}
