import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Document } from 'mongodb';
import { z } from 'zod';
import { systemSchema } from '../../../src/measurement/system.js';
import { measurementDocumentSchema, toDocuments } from '../../../src/store/measurement-document.js';
import { encodeDocument } from '../../../src/store/mongodb/document-codec.js';
import { buildValidator } from '../../../src/store/mongodb/validator.js';
import { sampleMeasurement } from '../sample-measurement.js';

/** Everything that may stand in a $jsonSchema (MongoDB's manual, "$jsonSchema", Available Keywords) and that is written here. */
const KEYWORDS = new Set(
  [
    'additionalProperties allOf anyOf bsonType enum exclusiveMaximum exclusiveMinimum items maxItems maximum minItems minimum',
    'oneOf properties required',
  ].flatMap((line) => line.split(' ')),
);

type Schema = Readonly<Record<string, unknown>>;

/** Keywords of a schema and of those within it. */
function keywordsOf(schema: Schema): readonly string[] {
  const { properties = {}, items, additionalProperties } = schema as Record<string, Schema>;
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => (schema[keyword] as Schema[] | undefined) ?? []);
  const inner = [...Object.values(properties), ...lists, items, additionalProperties] as unknown[];
  const schemas = inner.filter((one): one is Schema => typeof one === 'object' && one !== null);
  return [...Object.keys(schema), ...schemas.flatMap(keywordsOf)];
}

/** The same in JSON's types, so that something other than a server can judge by it. */
function inJsonTypes(schema: Schema): z.ZodType {
  const text = JSON.stringify(schema)
    .replaceAll('"bsonType":["int","long","double","decimal"]', '"type":"number"')
    .replaceAll('"bsonType":"bool"', '"type":"boolean"')
    .replaceAll('"bsonType"', '"type"');
  const draft = { $schema: 'http://json-schema.org/draft-04/schema#', ...(JSON.parse(text) as object) };
  return z.fromJSONSchema(draft as Parameters<typeof z.fromJSONSchema>[0]);
}

/** What a document has to be that was not split. One that was may be anything that says so. */
function wholeIn(validator: Document | undefined): Schema {
  const [split, whole] = (validator?.['$jsonSchema'] as { anyOf: Schema[] }).anyOf;
  assert.deepEqual(split, { required: ['%split'] });
  assert(whole !== undefined);
  return whole;
}

describe('a validator', () => {
  const { document, system } = toDocuments(sampleMeasurement(1));
  const stored = { _id: 'x', fingerprint: 'x', protocolKey: 'x', ...encodeDocument(document) };
  const measurements = wholeIn(buildValidator(measurementDocumentSchema, ['fingerprint', 'protocolKey']));
  const systems = wholeIn(buildValidator(systemSchema, []));

  it('uses what MongoDB knows', () => {
    for (const schema of [measurements, systems]) {
      assert.deepEqual(
        keywordsOf(schema).filter((keyword) => !KEYWORDS.has(keyword)),
        [],
      );
    }
  });

  it('takes what is written', () => {
    assert.equal(inJsonTypes(systems).safeParse({ _id: 'x', ...encodeDocument(system) }).error, undefined);
    const failure = sampleMeasurement(1, { outcome: { kind: 'failure', reason: 'crashed', message: 'x' } });
    for (const outcome of [document.outcome, failure.outcome]) {
      assert.equal(inJsonTypes(measurements).safeParse({ ...stored, outcome }).error, undefined);
    }
  });

  const broken: readonly [string, object][] = [
    ['a field too many', { note: 'x' }],
    ['a text for a number', { costMs: '1' }],
    ['a negative time', { costMs: -1 }],
    ['no samples', { outcome: { kind: 'samples', runMs: [], warmupMs: [] } }],
    ['an unknown reason', { outcome: { kind: 'failure', reason: 'tired', message: '' } }],
  ];
  for (const [what, change] of broken) {
    it(`refuses ${what}`, () => {
      assert.equal(inJsonTypes(measurements).safeParse({ ...stored, ...change }).success, false);
    });
  }

  it('is none for documents of any form, whose kind only their own program knows', () => {
    assert.equal(
      buildValidator(
        z.custom<object>(() => true),
        [],
      ),
      undefined,
    );
  });
});
